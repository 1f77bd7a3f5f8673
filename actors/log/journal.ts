import type { Count } from "../../server/platform/metrics/room-metrics.ts";
import type { Shared } from "../shared.ts";
import { shardOf } from "./keys.ts";
import { runScript } from "./scripts.ts";
import { stampOf } from "./stored-state.ts";

/** The changes of one room since its last commit. */
export interface Commit {
  code: string;
  /** Stored stamp of the previous commit; "" before the first. */
  expected: string;
  version: number;
  /** Unique per commit, without spaces: distinguishes a repeated script from another commit. */
  id: string;
  /** Number of the last event; the payloads are the events up to it. */
  seq: number;
  fields: [name: string, value: string][];
  removedFields: string[];
  payloads: string[];
  /** TTL of the stored room from now, or null to keep it. */
  ttlMs: number | null;
  /** Next deadline; null for none, undefined if Redis has it already. */
  due: number | null | undefined;
}

/**
 * `refused`: the stream of the room is ahead of its state. `silent`: Redis has had no heartbeat of this
 * process for so long that another process may have owned the shard.
 */
export type CommitResult = (typeof commitResults)[number];

const commitResults = ["committed", "fenced", "conflict", "refused", "silent", "failed"] as const;

/** Results by the letters that the script returns. */
const outcomes: Readonly<Record<string, CommitResult>> = {
  c: "committed",
  a: "committed",
  f: "fenced",
  v: "conflict",
  r: "refused",
  s: "silent",
};

/** Minimum number of messages kept per stream; clients further behind get a snapshot. */
const keptMessages = 256;
/** Commits per script; bounds how long Redis is blocked and the values on its stack. */
const maxCommitsPerScript = 256;

interface Waiting {
  commit: Commit;
  /** The fencing token of the shard's owner. */
  token: string;
  resolve: (result: CommitResult) => void;
}

/** Commits sent one script after the other. */
interface Line {
  waiting: Waiting[];
  isFlushing: boolean;
}

const emptyLine = (): Line => ({ waiting: [], isFlushing: false });

export interface JournalDeps extends Pick<Shared, "keys" | "metrics" | "redis" | "timing"> {
  /**
   * The process whose heartbeat the script checks, with its maximum age; null if the heartbeat is on
   * another cluster node, where `isConfirmedAlive` is used instead.
   */
  counted: { nodeId: string; deadMs: number } | null;
  /** Whether Redis counted this process as alive in its last reply. */
  isConfirmedAlive: () => boolean;
}

/** Commits of one tick share one script. */
export class Journal {
  readonly #deps: JournalDeps;
  readonly #counts: ReadonlyMap<CommitResult, Count>;
  readonly #everything = emptyLine();
  /** On Redis Cluster all keys of a script are in one slot, and no shard waits for another's node. */
  readonly #lines = new Map<number, Line>();
  #flushing = 0;
  #idleCallbacks: (() => void)[] = [];

  constructor(deps: JournalDeps) {
    this.#deps = deps;
    this.#counts = new Map(commitResults.map((result) => [result, deps.metrics.commit(result)]));
    for (const count of this.#counts.values()) count.inc(0);
  }

  /** Resolves when Redis has replied. */
  commit(commit: Commit, token: string): Promise<CommitResult> {
    const line = this.#lineOf(commit.code);
    if (!line.isFlushing) {
      line.isFlushing = true;
      this.#flushing += 1;
      this.#deps.timing.soon(() => void this.#flush(line));
    }
    return new Promise((resolve) => line.waiting.push({ commit, token, resolve }));
  }

  /** Whether the result proves that nothing was sent: without its heartbeat in the script, this process looks first. */
  provesUnsent(result: CommitResult): boolean {
    return result === "silent" && this.#deps.counted === null;
  }

  /** Resolves when every commit has been replied to. */
  async idle(): Promise<void> {
    if (this.#flushing > 0) await new Promise<void>((done) => this.#idleCallbacks.push(done));
  }

  /**
   * Each line has one script in flight; commits that arrive in the meantime share the next one. Under load
   * this merges many small scripts into few large ones; without load it costs nothing.
   */
  async #flush(line: Line): Promise<void> {
    while (line.waiting.length > 0) {
      const batch = line.waiting.slice(0, maxCommitsPerScript);
      line.waiting = line.waiting.slice(maxCommitsPerScript);
      await this.#send(batch);
    }
    line.isFlushing = false;
    this.#flushing -= 1;
    if (this.#flushing > 0) return;
    for (const done of this.#idleCallbacks) done();
    this.#idleCallbacks = [];
  }

  async #send(batch: Waiting[]): Promise<void> {
    const { redis, keys, metrics, timing, counted, isConfirmedAlive } = this.#deps;
    if (counted === null && !isConfirmedAlive()) return this.#settle(batch, () => "silent");
    const started = timing.elapsed();
    const names: string[] = [];
    const { nodeId = "", deadMs = "" } = counted ?? {};
    const args: (string | number)[] = [nodeId, deadMs, keptMessages];
    for (const { commit, token } of batch) {
      const { code } = commit;
      const shard = shardOf(code);
      names.push(keys.owner(shard), keys.state(code), keys.stream(code), keys.due(shard));
      args.push(...argumentsOf(commit, token, keys.channel(code)));
    }
    if (counted !== null) names.push(keys.workers);
    let results: unknown;
    try {
      results = await runScript(redis, "commit", names, args);
    } catch {
      results = null;
    }
    metrics.commitSeconds.observe((timing.elapsed() - started) / 1000);
    const letters = typeof results === "string" ? results : "";
    this.#settle(batch, (i) => outcomes[letters[i] ?? ""] ?? "failed");
  }

  #settle(batch: readonly Waiting[], resultOf: (i: number) => CommitResult): void {
    const numbers = new Map<CommitResult, number>();
    for (const [i, { resolve }] of batch.entries()) {
      const result = resultOf(i);
      numbers.set(result, (numbers.get(result) ?? 0) + 1);
      resolve(result);
    }
    for (const [result, number] of numbers) this.#counts.get(result)?.inc(number);
  }

  #lineOf(code: string): Line {
    if (!this.#deps.redis.isSharded) return this.#everything;
    const shard = shardOf(code);
    const known = this.#lines.get(shard);
    if (known) return known;
    const line = emptyLine();
    this.#lines.set(shard, line);
    return line;
  }
}

/** The script's arguments of one commit, in its order. */
function argumentsOf(commit: Commit, token: string, channel: string): string[] {
  const { code, expected, version, id, fields, removedFields, payloads } = commit;
  const args = [token, expected, stampOf(version, id), code, channel];
  args.push(String(commit.ttlMs ?? ""), dueText(commit.due));
  args.push(String(fields.length), String(removedFields.length), String(payloads.length));
  for (const [name, value] of fields) args.push(name, value);
  args.push(...removedFields);
  let seq = commit.seq - payloads.length;
  for (const payload of payloads) {
    seq += 1;
    args.push(`${seq}-0`, `${seq}\n${payload}`);
  }
  return args;
}

function dueText(due: number | null | undefined): string {
  if (due === undefined) return "";
  return due === null ? "-" : String(due);
}
