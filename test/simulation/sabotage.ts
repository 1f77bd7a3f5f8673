import type { Connection, Connections } from "../../actors/runtime/storage/connection.ts";
import type { StoreFaults } from "./model-redis.ts";

/** A fault planted on purpose, to see that the checks notice it. */
export interface Sabotage {
  store?: StoreFaults;
  /** Reads are believed fresh for so long. */
  freshMs?: number;
  /** Seats the lobbies are made for, when not the right number. */
  seatBound?: number;
  /** Changes what a worker reads back of a stored lobby. */
  readBack?: (fields: Record<string, string>) => Record<string, string>;
  /** A worker answers as soon as a commit is on its way. */
  answersBeforeCommit?: boolean;
  /** A worker that took a lobby over gives its next events the number of the last one again. */
  reusesSeq?: boolean;
  /** Clients make up a new id for every repeat. */
  freshIds?: boolean;
  /** A worker takes the shards it gave for taken at once. */
  seesShardsTaken?: boolean;
  /** Explanations stand in the text of the question. */
  leaksAnswers?: boolean;
}

export function sabotaged(connections: Connections, sabotage: Sabotage): Connections {
  const { readBack, answersBeforeCommit } = sabotage;
  let { commits, control } = connections;
  if (readBack) {
    const sound = control;
    control = { ...sound, hgetall: async (key) => readBack(await sound.hgetall(key)) };
  }
  if (sabotage.seesShardsTaken) control = credulous(control);
  if (answersBeforeCommit) commits = hasty(commits);
  if (sabotage.reusesSeq) commits = recounting(commits);
  return { ...connections, commits, control };
}

/** The whole map is read as it is: only who gives a slice looks at a few. */
function credulous(sound: Connection): Connection {
  const mget: Connection["mget"] = async (keys) => {
    const records = await sound.mget(keys);
    return keys.length > 10 ? records : records.map((record) => record || "w0|0");
  };
  return { ...sound, mget };
}

function hasty(sound: Connection): Connection {
  return {
    ...sound,
    async evalsha(sha, keyCount, ...args) {
      sound.evalsha(sha, keyCount, ...args).catch(() => null);
      return "c".repeat(keyCount / 4);
    },
  };
}

/** What a later owner commits is numbered one too low. */
function recounting(sound: Connection): Connection {
  const lowered = (args: string[]): string[] => {
    let isLaterOwner = false;
    return args.map((arg) => {
      if (/^w\d+\|\d+$/.test(arg)) isLaterOwner = !arg.endsWith("|1");
      return isLaterOwner
        ? arg.replace(/^\d+(?=-0$|\n)/, (number) => `${Number(number) - 1}`)
        : arg;
    });
  };
  return {
    ...sound,
    evalsha: (sha, keyCount, ...args) =>
      sound.evalsha(
        sha,
        keyCount,
        ...args.slice(0, keyCount),
        ...lowered(args.slice(keyCount).map(String)),
      ),
  };
}
