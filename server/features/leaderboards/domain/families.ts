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

/** Where an entry stands on one tab: higher values first, then the text order of `tie`. */
export interface Place {
  value: number;
  tie: string;
}

/** A player or team and its place on each tab of the family. */
export interface Entry {
  id: number;
  places: readonly Place[];
}

/** Leaderboards of the same entries: one of Redis' sorted sets for each tab, one hash for them all. */
export interface Family {
  name: string;
  tabs: readonly string[];
  /** Ranks are 1, 2, 3, …; otherwise equal values share one (1, 2, 2, 4). */
  isUnique: boolean;
  /** The entries of these ids that exist, or the next slice in order of id. */
  read(em: EntityManager, slice: Slice): Promise<Entry[]>;
  /** The entry a change touches, or null when it is none of this family. */
  touchedBy(change: Touched): number | null;
}

/** Fixed width, so that text order is the order of the numbers. */
function digits(value: number, width: number): string {
  return Math.max(0, Math.round(value)).toString(36).padStart(width, "0");
}
/** Microseconds since the epoch: enough until the year 2085. */
const moment = (micros: number) => digits(micros, 10);
const largest = 36 ** 6 - 1;
/** More comes first. */
const falling = (value: number) => digits(largest - Math.min(value, largest), 6);

/** The end of a member: ids in order, and readable again. */
export const idText = (id: number) => digits(id, 6);
export const idOf = (member: string) => parseInt(member.slice(-6), 36);

export const globalTabs = ["score", "accuracy", "streak", "xp"] as const;
export type GlobalTab = (typeof globalTabs)[number];
export const teamTabs = ["score", "accuracy", "streak"] as const;
export type TeamTab = (typeof teamTabs)[number];

const placesOf = (row: TotalsRow): Record<GlobalTab, Place> => ({
  score: { value: row.score, tie: moment(row.scoreAt) },
  accuracy: { value: row.accuracy, tie: falling(row.answers) },
  streak: { value: row.streak, tie: moment(row.streakAt) },
  xp: { value: row.xp, tie: moment(row.xpAt) },
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
          places: [{ value: score, tie: digits(timeMs, 6) + moment(finishedAt) }],
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
        const time = digits(row.timeCs, 6) + moment(row.createdAt);
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

/** The result an entry of a word leaderboard stands for: it is written before the player in the member. */
export const resultIdOf = (member: string) => parseInt(member.slice(-12, -6), 36);

/** The family of a name found in Redis, or null for a name of another version of the service. */
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
