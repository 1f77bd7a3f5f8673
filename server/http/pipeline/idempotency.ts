import { hash } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { Redis } from "ioredis";
import { AppError } from "../../platform/errors.ts";
import { Draft, type Once } from "./draft.ts";
import type { Exchange } from "../uws/exchange.ts";
import { toAppError, unavailable } from "./failures.ts";
import type { Headers, Reply } from "./route.ts";

const keptMs = 24 * 3600 * 1000;
/** A request whose process died leaves its mark for so long; one at work renews it, up to the second time. */
const markMs = 9_000;
const longestWorkMs = 60_000;
/** How long a second request waits for the first one's answer. */
const waitMs = 5_000;
const pollMs = 50;
const keyPattern = /^[\x21-\x7e]{1,128}$/;

type Work = (once: Once) => Promise<Reply> | Reply;

interface StoredAnswer {
  body: string;
  /** Null while the first request is still at work. */
  answer: { status: number; json: string | null; headers: Headers } | null;
}

/** The first success of a key, caller and body is repeated for 24 hours (HTTP-15). */
export class Idempotency {
  private readonly redis: Redis;
  private readonly markMs: number;

  constructor(redis: Redis, settings: { markMs: number } = { markMs }) {
    this.redis = redis;
    this.markMs = settings.markMs;
  }

  /** Throws `request:idempotency_mismatch` when the key came with another body before. */
  async run(x: Exchange, key: string, work: Work): Promise<Reply> {
    if (!keyPattern.test(key))
      throw new AppError("request:invalid_query", { params: { parameter: "Idempotency-Key" } });
    const who = x.playerId === null ? x.ip : `p${x.playerId}`;
    const route = x.entry?.route;
    const name = hash(
      "sha256",
      `${route?.method} ${route?.path} ${who} ${x.paramValues.join("/")} ${key}`,
      "base64url",
    );
    const body = hash("sha256", x.body ?? "", "base64url");
    const repeated = await this.claim(name, body);
    if (repeated !== null) return repeated;
    const renewal = this.keepTaken(name);
    try {
      return await this.perform(name, body, work);
    } finally {
      clearInterval(renewal);
    }
  }

  private keepTaken(name: string): NodeJS.Timeout {
    let left = Math.floor((3 * longestWorkMs) / this.markMs);
    const renewal = setInterval(() => {
      if (--left === 0) clearInterval(renewal);
      // Never earlier: behind a process that stood still another may have kept its answer there.
      this.redis.pexpire(markOf(name), this.markMs, "GT").catch(() => 0);
    }, this.markMs / 3);
    return renewal.unref();
  }

  /** Null when this request is the first; otherwise the answer of the first one. */
  private async claim(name: string, body: string): Promise<Reply | null> {
    const mark = JSON.stringify({ body, answer: null } satisfies StoredAnswer);
    const giveUpAt = performance.now() + waitMs;
    while (performance.now() < giveUpAt) {
      const present = await this.redis.set(markOf(name), mark, "PX", this.markMs, "NX", "GET");
      if (present === null) return null;
      const stored = JSON.parse(present) as StoredAnswer;
      if (stored.body !== body) throw new AppError("request:idempotency_mismatch");
      if (stored.answer !== null) return toReply(stored.answer);
      await wait(pollMs);
    }
    throw unavailable();
  }

  /**
   * Refusals changed nothing, so they are not kept: the next try may succeed. Of any other failure nobody
   * knows what it changed: the next try finds what was drawn for it.
   */
  private async perform(name: string, body: string, work: Work): Promise<Reply> {
    const draft = new Draft(this.redis, `draft:${name}:${body}`);
    let reply: Reply;
    try {
      reply = await work(draft.once);
    } catch (error) {
      const isRefusal = toAppError(error).status < 500;
      await Promise.all([this.redis.del(markOf(name)).catch(() => 0), isRefusal && draft.drop()]);
      throw error;
    }
    const stored = JSON.stringify({ body, answer: toAnswer(reply) } satisfies StoredAnswer);
    // The effect is there; a store that fails now must not turn the success into an error.
    const isKept = await this.redis.set(markOf(name), stored, "PX", keptMs).catch(() => null);
    if (isKept) await draft.drop();
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
