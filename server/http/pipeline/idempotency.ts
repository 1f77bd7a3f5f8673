import { hash } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { Redis } from "ioredis";
import { AppError } from "../../platform/errors.ts";
import { IdempotentInput, type MemoizeForKey } from "./idempotent-input.ts";
import type { RequestContext } from "../uws/request-context.ts";
import { toAppError, unavailable } from "./failures.ts";
import type { Headers, Reply } from "./route.ts";

const retentionMs = 24 * 3600 * 1000;
/** Lease of a running request, renewed up to three times `maxWorkMs`; that of a killed process expires. */
const leaseMs = 9_000;
const maxWorkMs = 60_000;
/** Longest wait of a retry for the response of the first request. */
const waitMs = 5_000;
const pollMs = 50;
const keyPattern = /^[\x21-\x7e]{1,128}$/;

type Work = (memoizeForKey: MemoizeForKey) => Promise<Reply> | Reply;

interface StoredAnswer {
  body: string;
  /** Null while the first request is running. */
  answer: { status: number; json: string | null; headers: Headers } | null;
}

/** Idempotency keys: the first success of a key, caller and body is replayed for 24 hours (HTTP-15). */
export class Idempotency {
  private readonly redis: Redis;
  private readonly leaseMs: number;

  constructor(redis: Redis, settings: { leaseMs: number } = { leaseMs }) {
    this.redis = redis;
    this.leaseMs = settings.leaseMs;
  }

  /** Throws `request:idempotency_mismatch` when the key was used with another body. */
  async run(ctx: RequestContext, key: string, work: Work): Promise<Reply> {
    if (!keyPattern.test(key))
      throw new AppError("request:invalid_query", { params: { parameter: "Idempotency-Key" } });
    const who = ctx.playerId === null ? ctx.ip : `p${ctx.playerId}`;
    const route = ctx.entry?.route;
    const name = hash(
      "sha256",
      `${route?.method} ${route?.path} ${who} ${ctx.paramValues.join("/")} ${key}`,
      "base64url",
    );
    const body = hash("sha256", ctx.body ?? "", "base64url");
    const repeated = await this.claim(name, body);
    if (repeated !== null) return repeated;
    const renewal = this.renewLease(name);
    try {
      return await this.perform(name, body, work);
    } finally {
      clearInterval(renewal);
    }
  }

  private renewLease(name: string): NodeJS.Timeout {
    let left = Math.floor((3 * maxWorkMs) / this.leaseMs);
    const renewal = setInterval(() => {
      if (--left === 0) clearInterval(renewal);
      // GT never shortens the expiry: after a stall another process may have stored its response there.
      this.redis.pexpire(markOf(name), this.leaseMs, "GT").catch(() => 0);
    }, this.leaseMs / 3);
    return renewal.unref();
  }

  /** Null for the first request; otherwise the response of the first one. */
  private async claim(name: string, body: string): Promise<Reply | null> {
    const mark = JSON.stringify({ body, answer: null } satisfies StoredAnswer);
    const giveUpAt = performance.now() + waitMs;
    while (performance.now() < giveUpAt) {
      const present = await this.redis.set(markOf(name), mark, "PX", this.leaseMs, "NX", "GET");
      if (present === null) return null;
      const stored = JSON.parse(present) as StoredAnswer;
      if (stored.body !== body) throw new AppError("request:idempotency_mismatch");
      if (stored.answer !== null) return toReply(stored.answer);
      await wait(pollMs);
    }
    throw unavailable();
  }

  /**
   * A refusal has no effect and is not stored: the next attempt may succeed. Any other failure has an unknown
   * outcome: the next attempt reuses the persisted input.
   */
  private async perform(name: string, body: string, work: Work): Promise<Reply> {
    const input = new IdempotentInput(this.redis, `draft:${name}:${body}`);
    let reply: Reply;
    try {
      reply = await work(input.memoizeForKey);
    } catch (error) {
      const isRefusal = toAppError(error).status < 500;
      await Promise.all([this.redis.del(markOf(name)).catch(() => 0), isRefusal && input.drop()]);
      throw error;
    }
    const stored = JSON.stringify({ body, answer: toAnswer(reply) } satisfies StoredAnswer);
    // The effect is committed: a failing Redis must not turn the success into an error.
    const isKept = await this.redis.set(markOf(name), stored, "PX", retentionMs).catch(() => null);
    if (isKept) await input.drop();
    return reply;
  }
}

const markOf = (name: string) => `idempotent:${name}`;

function toAnswer(reply: Reply): StoredAnswer["answer"] {
  if (reply.kind === "json")
    return { status: reply.status, json: JSON.stringify(reply.body), headers: reply.headers };
  if (reply.kind === "encoded")
    return {
      status: reply.status,
      json: Buffer.from(reply.json).toString(),
      headers: reply.headers,
    };
  if (reply.kind === "empty") return { status: reply.status, json: null, headers: reply.headers };
  throw new Error(`a reply of kind ${reply.kind} cannot be repeated`);
}

function toReply({ status, json, headers }: NonNullable<StoredAnswer["answer"]>): Reply {
  if (json === null) return { kind: "empty", status, headers };
  return { kind: "encoded", status, json, etag: null, headers };
}
