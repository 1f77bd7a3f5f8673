import type { Connection, Connections } from "../../actors/runtime/connection.ts";
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
  if (answersBeforeCommit) commits = hasty(commits);
  if (sabotage.reusesSeq) commits = recounting(commits);
  return { ...connections, commits, control };
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
  const lower = (text: string) => {
    const parts = text.split("\x1f");
    const isFirstOwner = parts[0]?.endsWith("|1") ?? true;
    return isFirstOwner ? text : parts.with(8, `${Number(parts[8]) - 1}`).join("\x1f");
  };
  return {
    ...sound,
    evalsha: (sha, keyCount, ...args) =>
      sound.evalsha(
        sha,
        keyCount,
        ...args.map((arg, i) =>
          i < keyCount || !`${arg}`.includes("\x1f") ? arg : lower(`${arg}`),
        ),
      ),
  };
}
