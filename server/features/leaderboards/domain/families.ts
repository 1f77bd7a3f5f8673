import type { EntityManager } from "@mikro-orm/postgresql";
import {
  listChallengeRuns,
  listPlayerTotals,
  listTeamTotals,
  listWordBests,
  type Slice,
  type Touched,
  type TotalsRow,
  type WordWindow,
} from "../../../../db/queries/leaderboards/leaderboard-entries.ts";

/** Sort key of an entry on a tab: higher values first, then the text order of `tie`. */
export interface Place {
  value: number;
  tie: string;
}

/** A player or team and its sort key on each tab of the family. */
export interface Entry {
  id: number;
  places: readonly Place[];
}

/** Leaderboards of the same entries: one sorted set per tab and one shared hash in Redis. */
export interface Family {
  name: string;
  tabs: readonly string[];
  /** True: ranks are 1, 2, 3, …; false: equal values share a rank (1, 2, 2, 4). */
  isUnique: boolean;
  /** The existing entries of these ids, or the next batch in order of id. */
  read(em: EntityManager, slice: Slice): Promise<Entry[]>;
  /** The entry a change affects, or null for another family. */
  touchedBy(change: Touched): number | null;
}

/** Fixed width, so that text order is the order of the numbers. */
function digits(value: number, width: number): string {
  return Math.max(0, Math.round(value)).toString(36).padStart(width, "0");
}
/** Microseconds since the epoch: enough until the year 2085. */
const instant = (micros: number) => digits(micros, 10);
const largest = 36 ** 6 - 1;
/** More comes first. */
const falling = (value: number) => digits(largest - Math.min(value, largest), 6);

/** Id suffix of a member: ordered and parsable. */
export const idText = (id: number) => digits(id, 6);
export const idOf = (member: string) => parseInt(member.slice(-6), 36);

export const globalTabs = ["score", "accuracy", "streak", "xp"] as const;
export type GlobalTab = (typeof globalTabs)[number];
export const teamTabs = ["score", "accuracy", "streak"] as const;
export type TeamTab = (typeof teamTabs)[number];

const placesOf = (row: TotalsRow): Record<GlobalTab, Place> => ({
  score: { value: row.score, tie: instant(row.scoreAt) },
  accuracy: { value: row.accuracy, tie: falling(row.answers) },
  streak: { value: row.streak, tie: instant(row.streakAt) },
  xp: { value: row.xp, tie: instant(row.xpAt) },
});

function entryOf(row: TotalsRow, tabs: readonly GlobalTab[]): Entry {
  const places = placesOf(row);
  return { id: row.id, places: tabs.map((tab) => places[tab]) };
}

function totalsFamily(
  name: string,
  tabs: readonly GlobalTab[],
  kind: "player" | "team",
  list: (em: EntityManager, slice: Slice) => Promise<TotalsRow[]>,
): Family {
  return {
    name,
    tabs,
    isUnique: false,
    read: async (em, slice) => (await list(em, slice)).map((row) => entryOf(row, tabs)),
    touchedBy: (change) => (change.kind === kind ? change.id : null),
  };
}

export const globalFamily = totalsFamily("global", globalTabs, "player", listPlayerTotals);
export const teamFamily = totalsFamily("teams", teamTabs, "team", listTeamTotals);

/** Finished runs: more points, then less time, then earlier (LB-03). */
export function challengeFamily(challengeId: number): Family {
  return {
    name: `challenge-${challengeId}`,
    tabs: ["score"],
    isUnique: true,
    read: async (em, slice) =>
      (await listChallengeRuns(em, challengeId, slice)).map(
        ({ id, score, timeMs, finishedAt }) => ({
          id,
          places: [{ value: score, tie: digits(timeMs, 6) + instant(finishedAt) }],
        }),
      ),
    touchedBy: (change) =>
      change.kind === "run" && change.challengeId === challengeId ? change.playerId : null,
  };
}

/** Best results: more points, then level, then less time, then earlier (WG-02). */
export function wordFamily(window: WordWindow): Family {
  return {
    name: wordName(window),
    tabs: ["score"],
    isUnique: true,
    read: async (em, slice) =>
      (await listWordBests(em, window, slice)).map((row) => {
        const time = digits(row.timeCs, 6) + instant(row.createdAt);
        const tie = falling(row.level) + time + idText(row.resultId);
        return { id: row.id, places: [{ value: row.score, tie }] };
      }),
    touchedBy: (change) =>
      change.kind === "word" && takes(window, change) ? change.playerId : null,
  };
}

function wordName(window: WordWindow): string {
  if (window.mode === "random") return `word-random-${window.since}`;
  return `word-daily-${window.from ?? ""}_${window.to ?? ""}`;
}

function takes(window: WordWindow, change: Extract<Touched, { kind: "word" }>): boolean {
  if (window.mode === "random")
    return change.mode === "random" && change.createdAtMs >= window.since;
  if (change.mode !== "daily") return false;
  // Dates of this form compare as text.
  const isLate = window.from === null || change.date >= window.from;
  return isLate && (window.to === null || change.date <= window.to);
}

/** The result of a word leaderboard entry: it precedes the player in the member. */
export const resultIdOf = (member: string) => parseInt(member.slice(-12, -6), 36);

/** The family of a name in Redis; null for a name of another version of the service. */
export function familyOf(name: string): Family | null {
  if (name === globalFamily.name) return globalFamily;
  if (name === teamFamily.name) return teamFamily;
  const challenge = /^challenge-(\d+)$/.exec(name);
  if (challenge) return challengeFamily(Number(challenge[1]));
  const random = /^word-random-(\d+)$/.exec(name);
  if (random) return wordFamily({ mode: "random", since: Number(random[1]) });
  const daily = /^word-daily-([\d-]*)_([\d-]*)$/.exec(name);
  if (!daily) return null;
  return wordFamily({ mode: "daily", from: daily[1] || null, to: daily[2] || null });
}
