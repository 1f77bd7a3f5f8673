import type { Connection, Connections } from "../../actors/log/connection.ts";
import type { CommitFollower } from "../../server/platform/room-source.ts";
import type { StoreFaults } from "./model-redis.ts";

/** A deliberately planted fault, to verify that the checks detect it. */
export interface Sabotage {
  store?: StoreFaults;
  /** Reads count as fresh for this long. */
  freshMs?: number;
  /** Number of seats per lobby, if not the correct one. */
  seatBound?: number;
  /** Changes what a worker loads of a stored lobby. */
  readBack?: (fields: Record<string, string>) => Record<string, string>;
  /** A worker responds as soon as a commit is sent. */
  answersBeforeCommit?: boolean;
  /** A worker that took a lobby over reuses the last event number. */
  reusesSeq?: boolean;
  /** Clients generate a new id for every repeat. */
  freshIds?: boolean;
  /** A worker considers released shards claimed immediately. */
  seesShardsTaken?: boolean;
  /** A worker that lost a shard does not tell its streams. */
  keepsSource?: boolean;
  /** The owner does not pass some messages on to its streams. */
  withholdsQuestions?: boolean;
  /** Explanations are part of the question text. */
  leaksAnswers?: boolean;
}

export function sabotaged(connections: Connections, sabotage: Sabotage): Connections {
  const { readBack, answersBeforeCommit } = sabotage;
  let { commits, control } = connections;
  if (readBack) {
    const original = control;
    control = { ...original, hgetall: async (key) => readBack(await original.hgetall(key)) };
  }
  if (sabotage.seesShardsTaken) control = withShardsTaken(control);
  if (answersBeforeCommit) commits = withEarlyAnswers(commits);
  if (sabotage.reusesSeq) commits = withReusedNumbers(commits);
  return { ...connections, commits, control };
}

/** The whole map is read unchanged; only a node that releases a batch reads a few entries. */
function withShardsTaken(original: Connection): Connection {
  const mget: Connection["mget"] = async (keys) => {
    const records = await original.mget(keys);
    return keys.length > 10 ? records : records.map((record) => record || "w0|0");
  };
  return { ...original, mget };
}

function withEarlyAnswers(original: Connection): Connection {
  return {
    ...original,
    async evalsha(sha, keyCount, ...args) {
      original.evalsha(sha, keyCount, ...args).catch(() => null);
      return "c".repeat(keyCount / 4);
    },
  };
}

/** Commits of a later owner are numbered one too low. */
function withReusedNumbers(original: Connection): Connection {
  const withLowerNumbers = (args: string[]): string[] => {
    let isLaterOwner = false;
    return args.map((arg) => {
      if (/^w\d+\|\d+$/.test(arg)) isLaterOwner = !arg.endsWith("|1");
      return isLaterOwner
        ? arg.replace(/^\d+(?=-0$|\n)/, (number) => `${Number(number) - 1}`)
        : arg;
    });
  };
  return {
    ...original,
    evalsha: (sha, keyCount, ...args) =>
      original.evalsha(
        sha,
        keyCount,
        ...args.slice(0, keyCount),
        ...withLowerNumbers(args.slice(keyCount).map(String)),
      ),
  };
}

/** What a worker reports to its streams. */
export function sabotagedFollower(
  follower: CommitFollower,
  { keepsSource, withholdsQuestions }: Sabotage,
): CommitFollower {
  return {
    onSource(isHere) {
      if (isHere || !keepsSource) follower.onSource(isHere);
    },
    onCommitted(seq, text) {
      if (!withholdsQuestions || !text.includes('"lobby.question"'))
        follower.onCommitted(seq, text);
    },
  };
}
