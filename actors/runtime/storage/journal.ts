import type { Metrics } from "../../../server/platform/metrics/metrics.ts";
import type { Connection } from "./connection.ts";
import { keysOf, shardOf, workersKey } from "./keys.ts";
import { runScript } from "./scripts.ts";
import { stampOf } from "./storage.ts";
import type { Timing } from "../timing.ts";

/** The changes of one lobby since its last commit. */
export interface Commit {
  code: string;
  /** Stamp of the commit this one follows, as it is stored; "" before the first. */
  expected: string;
  version: number;
  /** Unique per commit, without blanks: tells a resent script from a foreign one. */
  id: string;
  /** Number of the last event; the payloads are the events up to it. */
  seq: number;
  fields: [name: string, value: string][];
  removedFields: string[];
  payloads: string[];
  /** Life of the stored lobby from now, or null to leave it. */
  ttlMs: number | null;
  /** When the lobby is to be looked at next; null when never. */
  due: number | null;
}

/**
 * Refused: the log of the lobby has gone further than its state. Silent: the store has not heard of this worker for
 * so long that another may have had the shard.
 */
export type CommitResult = "committed" | "fenced" | "conflict" | "refused" | "silent" | "failed";

/** By the letters of the script. */
const outcomes: Readonly<Record<string, CommitResult>> = {
  c: "committed",
  a: "committed",
  f: "fenced",
  v: "conflict",
  r: "refused",
  s: "silent",
};

export interface Journal {
  /**
   * Resolves when the store has answered; commits of one tick travel in one script. `token` is that of the shard's
   * owner: the fence.
   */
  commit(commit: Commit, token: string): Promise<CommitResult>;
  /** Resolves when everything has been answered. */
  idle(): Promise<void>;
}

/** Messages a lobby's log keeps at least; readers further back get a snapshot. */
const keptMessages = 256;
/** Lobbies per script: bounds the time the store is held and the values on its stack. */
const maxLobbiesPerScript = 256;

interface Waiting {
  commit: Commit;
  token: string;
  resolve: (result: CommitResult) => void;
}

/** What goes out one script after the other. */
interface Line {
  waiting: Waiting[];
  isFlushing: boolean;
}

const emptyLine = (): Line => ({ waiting: [], isFlushing: false });

export function createJournal(deps: {
  redis: Connection;
  metrics: Metrics;
  timing: Timing;
  /** Whom the store must have heard of, and how lately; null where that lies on another node, and `isHeard` has to do. */
  counted: { incarnation: string; deadMs: number } | null;
  /** By its last answer the store counts this worker as alive. */
  isHeard: () => boolean;
}): Journal {
  const { timing, counted } = deps;
  const everything = emptyLine();
  /** On Redis Cluster the keys of one script lie in one slot, and no shard waits for another's node. */
  const lines = new Map<number, Line>();
  let flushing = 0;
  let waitingForIdle: (() => void)[] = [];

  async function send(batch: Waiting[]): Promise<void> {
    if (counted === null && !deps.isHeard())
      return batch.forEach(({ resolve }) => resolve("silent"));
    const started = timing.elapsed();
    const keys: string[] = [];
    const { incarnation = "", deadMs = "" } = counted ?? {};
    const args: (string | number)[] = [incarnation, deadMs, keptMessages];
    for (const { commit, token } of batch) {
      const { owner, lobby, stream, due, channel } = keysOf(commit.code);
      keys.push(owner, lobby, stream, due);
      args.push(...argumentsOf(commit, token, channel));
    }
    if (counted !== null) keys.push(workersKey);
    let results: unknown;
    try {
      results = await runScript(deps.redis, "commit", keys, args);
    } catch {
      results = null;
    }
    deps.metrics.lobbyCommitSeconds.observe((timing.elapsed() - started) / 1000);
    const letters = typeof results === "string" ? results : "";
    batch.forEach((one, i) => one.resolve(outcomes[letters[i] ?? ""] ?? "failed"));
  }

  /**
   * One script of a line is on its way at a time; what comes meanwhile goes into the next one together. Under
   * load that makes few large scripts of many small ones, and at rest it costs nothing.
   */
  async function flush(line: Line): Promise<void> {
    while (line.waiting.length > 0) {
      const batch = line.waiting.slice(0, maxLobbiesPerScript);
      line.waiting = line.waiting.slice(maxLobbiesPerScript);
      await send(batch);
    }
    line.isFlushing = false;
    flushing -= 1;
    if (flushing > 0) return;
    for (const done of waitingForIdle) done();
    waitingForIdle = [];
  }

  function lineOf(code: string): Line {
    if (!deps.redis.isSharded) return everything;
    const shard = shardOf(code);
    const known = lines.get(shard);
    if (known) return known;
    const line = emptyLine();
    lines.set(shard, line);
    return line;
  }

  return {
    commit(commit, token) {
      const line = lineOf(commit.code);
      if (!line.isFlushing) {
        line.isFlushing = true;
        flushing += 1;
        timing.soon(() => void flush(line));
      }
      return new Promise((resolve) => line.waiting.push({ commit, token, resolve }));
    },
    async idle() {
      if (flushing > 0) await new Promise<void>((done) => waitingForIdle.push(done));
    },
  };
}

/** What the script takes of one commit, in the order in which it reads it. */
function argumentsOf(commit: Commit, token: string, channel: string): string[] {
  const { code, expected, version, id, fields, removedFields, payloads } = commit;
  const args = [token, expected, stampOf(version, id), code, channel];
  args.push(String(commit.ttlMs ?? ""), String(commit.due ?? ""));
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
