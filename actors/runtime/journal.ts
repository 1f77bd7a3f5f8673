import type { Metrics } from "../../server/core/metrics.ts";
import type { Connection } from "./connection.ts";
import { dueKey, eventChannel, eventStreamKey, lobbyKey, ownerKey, shardOf } from "./keys.ts";
import { runScript } from "./scripts.ts";
import type { Timing } from "./timing.ts";

/** The changes of one lobby since its last commit. */
export interface Commit {
  code: string;
  /** Owner token of the shard: the fence. */
  token: string;
  expectedVersion: number;
  version: number;
  /** Unique per commit: tells a resent script from a foreign one. */
  id: string;
  /** Number of the last event; the payloads are the events up to it. */
  seq: number;
  fields: [name: string, value: string][];
  removedFields: string[];
  payloads: string[];
  /** Life of the stored lobby from now, or null to leave it. */
  ttlMs: number | null;
  /** New deadline; null removes it; undefined leaves it. */
  due?: number | null;
}

export type CommitResult = "committed" | "fenced" | "conflict" | "failed";

export interface Journal {
  /** Resolves when the store has answered; commits of one tick travel in one script. */
  commit(commit: Commit): Promise<CommitResult>;
}

/** Lobbies per script: bounds the time the store is held and the values on its stack. */
const maxLobbiesPerScript = 256;

interface Waiting {
  commit: Commit;
  resolve: (result: CommitResult) => void;
}

export function createJournal(deps: {
  redis: Connection;
  metrics: Metrics;
  timing: Timing;
}): Journal {
  const { timing } = deps;
  let waiting: Waiting[] = [];
  let isFlushing = false;

  async function send(batch: Waiting[]): Promise<void> {
    const started = timing.elapsed();
    const keys: string[] = [];
    const args: (string | number)[] = [];
    for (const { commit } of batch) appendArguments(commit, keys, args);
    let results: unknown;
    try {
      results = await runScript(deps.redis, "commit", keys, args);
    } catch {
      results = null;
    }
    deps.metrics.lobbyCommitSeconds.observe((timing.elapsed() - started) / 1000);
    batch.forEach((one, i) => one.resolve(resultOf(Array.isArray(results) ? results[i] : null)));
  }

  /**
   * One script is on its way at a time; what comes meanwhile goes into the next one together. Under load
   * that makes few large scripts of many small ones, and at rest it costs nothing.
   */
  async function flush(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, maxLobbiesPerScript);
      waiting = waiting.slice(maxLobbiesPerScript);
      await send(batch);
    }
    isFlushing = false;
  }

  return {
    commit: (commit) =>
      new Promise((resolve) => {
        waiting.push({ commit, resolve });
        if (isFlushing) return;
        isFlushing = true;
        timing.soon(() => void flush());
      }),
  };
}

function appendArguments(commit: Commit, keys: string[], args: (string | number)[]): void {
  const { code } = commit;
  const shard = shardOf(code);
  keys.push(ownerKey(shard), lobbyKey(code), eventStreamKey(code), dueKey(shard));
  args.push(commit.token, commit.expectedVersion, commit.version, commit.id, code);
  args.push(eventChannel(code), commit.ttlMs ?? "", dueArgument(commit.due), commit.seq);
  args.push(commit.fields.length);
  for (const [name, value] of commit.fields) args.push(name, value);
  args.push(commit.removedFields.length, ...commit.removedFields);
  args.push(commit.payloads.length, ...commit.payloads);
}

function dueArgument(due: number | null | undefined): string | number {
  if (due === undefined) return "";
  return due === null ? "-" : due;
}

function resultOf(code: unknown): CommitResult {
  if (code === 1 || code === 2) return "committed";
  if (code === -1) return "fenced";
  return code === -2 ? "conflict" : "failed";
}
