import { hash } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { Redis } from "ioredis";
import type { WithFaults, WithRedis } from "../../platform/capabilities.ts";
import { AppError } from "../../platform/errors.ts";
import { recordDegraded } from "../../platform/faults/degraded.ts";
import type { FaultRecorder } from "../../platform/faults/recorder.ts";
import { randomId } from "../../platform/ids.ts";
import { noOrigin } from "../../platform/origin.ts";
import { asCluster } from "../../platform/redis/redis.ts";
import { scriptOf } from "../../platform/redis/script.ts";
import {
  clusterInputOf,
  IdempotentInput,
  inputOf,
  keptMs,
  type MemoizeForKey,
} from "./idempotent-input.ts";
import type { RequestContext } from "./request-context.ts";
import { ownerPortHeader } from "../replies/owner-port.ts";
import { toAppError, unavailable } from "./failures.ts";
import type { Headers, OpenedRoom, Reply } from "./route.ts";

const claimScript = scriptOf("server/http/pipeline/claim.lua");
const answeredScript = scriptOf("server/http/pipeline/answered.lua");
const releaseScript = scriptOf("server/http/pipeline/release.lua");
/** Lease of a running request, renewed up to three times `maxWorkMs`; that of a killed process expires. */
const leaseMs = 9_000;
const maxWorkMs = 60_000;
/** Longest wait of a retry for the response of the first request. */
const waitMs = 5_000;
const pollMs = 50;
const keyPattern = /^[\x21-\x7e]{1,128}$/;

interface StoredAnswer {
  body: string;
  /** Distinguishes the running requests of a key: one that lost its lease must not change what the next one stored. */
  claimId?: string;
  /** Null while the first request is running. */
  answer: { status: number; json: string | null; headers: Headers; room?: OpenedRoom } | null;
}

interface Claim {
  name: string;
  body: string;
  /** Stored while the request is running. */
  mark: string;
}

/** Performs the request with the input drawn for it. */
type Work = (memoizeForKey: MemoizeForKey, drawn: unknown) => Promise<Reply> | Reply;

/** Idempotency keys: the first success of a key, caller and body is replayed for 24 hours (HTTP-15). */
export class Idempotency {
  readonly #redis: Redis;
  readonly #leaseMs: number;
  readonly #isCluster: boolean;
  readonly #faults: FaultRecorder;

  constructor({ redis, faults }: WithRedis & WithFaults, settings = { leaseMs }) {
    this.#redis = redis;
    this.#faults = faults;
    this.#leaseMs = settings.leaseMs;
    this.#isCluster = asCluster(redis) !== null;
  }

  /**
   * Throws `request:idempotency_mismatch` when the key was used with another body. Input that `draw` returns at once is
   * stored with the claim of the key, in one round trip.
   */
  async run(ctx: RequestContext, key: string, work: Work, draw?: () => unknown): Promise<Reply> {
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
    const drawn = draw?.();
    // A repeat needs no input, so its draw may fail.
    if (drawn instanceof Promise) drawn.catch(() => undefined);
    const known = drawn === undefined || drawn instanceof Promise ? null : JSON.stringify(drawn);
    const mark = { body, claimId: randomId(), answer: null } satisfies StoredAnswer;
    const claim = { name, body, mark: JSON.stringify(mark) };
    const claimed = await this.#claim(claim, known);
    if (!(claimed instanceof IdempotentInput)) return claimed;
    const renewal = this.#renewLease(name);
    try {
      return await this.#perform(claim, claimed, async () => {
        const { memoizeForKey } = claimed;
        const input = draw === undefined ? undefined : await memoizeForKey(async () => drawn);
        return work(memoizeForKey, input);
      });
    } finally {
      clearInterval(renewal);
    }
  }

  #renewLease(name: string): NodeJS.Timeout {
    let left = Math.floor((3 * maxWorkMs) / this.#leaseMs);
    const renewal = setInterval(() => {
      if (--left === 0) clearInterval(renewal);
      // GT never shortens the expiry: after a stall another process may have stored its response there.
      this.#redis.pexpire(markOf(name), this.#leaseMs, "GT").catch(() => 0);
    }, this.#leaseMs / 3);
    return renewal.unref();
  }

  /** The stored input of the first request; for a repeat the response of the first one. */
  async #claim(
    { name, body, mark }: Claim,
    drawn: string | null,
  ): Promise<IdempotentInput | Reply> {
    const input = this.#isCluster ? clusterInputOf(markOf(name), body) : inputOf(name, body);
    const args = [mark, this.#leaseMs, drawn ?? "", keptMs];
    const giveUpAt = performance.now() + waitMs;
    while (performance.now() < giveUpAt) {
      const [answer, former] = await Promise.all([
        claimScript(this.#redis, [markOf(name), input], ...args),
        // Input stored by the previous version, in another slot. It expires within a day.
        this.#isCluster ? this.#redis.get(inputOf(name, body)) : null,
      ]);
      const [isClaimed, text] = answer as [isClaimed: number, text: string];
      if (isClaimed) return new IdempotentInput(this.#redis, input, former ?? (text || null));
      const stored = JSON.parse(text) as StoredAnswer;
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
  async #perform(
    { name, body, mark }: Claim,
    input: IdempotentInput,
    work: () => Promise<Reply>,
  ): Promise<Reply> {
    const keys = [markOf(name), input.name];
    let reply: Reply;
    try {
      reply = await work();
    } catch (error) {
      const isRefusal = toAppError(error).status < 500;
      const former = isRefusal && this.#isCluster ? this.#redis.del(inputOf(name, body)) : null;
      const released = releaseScript(this.#redis, keys, mark, isRefusal ? 1 : 0);
      await Promise.allSettled([released, former]);
      throw error;
    }
    const stored = JSON.stringify({ body, answer: toAnswer(reply) } satisfies StoredAnswer);
    // Sent before the response, which does not wait: without the stored response a repeat has the same input, and the
    // effect is committed, so a failing Redis must not turn the success into an error.
    const faults = this.#faults;
    answeredScript(this.#redis, keys, stored, keptMs, mark).catch((error: unknown) =>
      recordDegraded({ faults }, "idempotency-answer", error, noOrigin),
    );
    return reply;
  }
}

const markOf = (name: string) => `idempotent:${name}`;

function toAnswer(reply: Reply): StoredAnswer["answer"] {
  const { status } = reply;
  if (reply.kind === "json")
    return { status, json: JSON.stringify(reply.body), headers: reply.headers };
  if (reply.kind === "encoded") {
    const { json, headers, room } = reply;
    return { status, json: Buffer.from(json).toString(), headers, ...(room && { room }) };
  }
  if (reply.kind === "empty") return { status, json: null, headers: reply.headers };
  throw new Error(`a reply of kind ${reply.kind} cannot be repeated`);
}

function toReply({ status, json, headers: all, room }: NonNullable<StoredAnswer["answer"]>): Reply {
  // Stored by the previous version; the owner may have changed since.
  const headers = all.filter(([name]) => name !== ownerPortHeader);
  if (json === null) return { kind: "empty", status, headers };
  return { kind: "encoded", status, json, etag: null, headers, room };
}
