import type { Static } from "typebox";
import { findPlayerByName, findPlayerName } from "../../../db/queries/accounts/player-names.ts";
import type { WordWindow } from "../../../db/queries/leaderboards/leaderboard-entries.ts";
import { recordChange } from "../../../db/queries/leaderboards/leaderboard-changes.ts";
import * as words from "../../../db/queries/wordgame/word-results.ts";
import { resultIdOf, wordFamily } from "../leaderboards/domain/families.ts";
import type { Line } from "../leaderboards/domain/store.ts";
import { foldName } from "../../platform/text/account-names.ts";
import { dateIn, latestDate, monthOf, startOfDate, weekOf } from "../../platform/time/days.ts";
import { AppError } from "../../platform/errors.ts";
import type { WordGameDeps } from "./deps.ts";
import { awardWhenDue } from "../wallet/domain/awards.ts";
import { presentLine, type WordLeaderboard, type ResultBody } from "./schemas.ts";

export type Period = "today" | "this_week" | "this_month" | "all";

const firstResult = { awardId: "id.award.first_words", game: "wordgame" };

/**
 * Stores a result and returns the rank of the player's best one (WG-01 to WG-04). A repeated `ref` is not stored
 * again (HTTP-15).
 */
export async function submitResult(
  deps: WordGameDeps,
  playerId: number,
  body: Static<typeof ResultBody>,
  ref: string | null,
): Promise<{ username: string; rank: number }> {
  const now = deps.clock.now();
  const date = body.type === "daily" ? (body.date ?? null) : null;
  if (date !== null && date > latestDate(now)) {
    const violations = [{ propertyPath: "date", title: "must not be in the future" }];
    throw new AppError("validation:failed", { violations });
  }
  const username = await deps.em.transactional(async (em) => {
    const name = await findPlayerName(em, playerId);
    if (name === null) throw new AppError("auth:token_invalid");
    const { score, level, wordsFound, blocksDropped, timeTaken } = body;
    const subjectId = await words.insertWordResult(em, {
      playerId,
      score,
      level,
      wordsFound,
      blocksDropped,
      timeTaken,
      date,
      ref,
      mode: body.type,
      timeGiven: body.timeGiven ?? null,
      completed: body.completed ?? false,
      targetWords: body.targetWords ?? null,
      targetWordsFound: body.targetWordsFound ?? null,
      at: new Date(now),
    });
    if (subjectId === null) return name;
    await recordChange(em, { kind: "word", subjectId });
    await awardWhenDue(em, { ...firstResult, playerId, now });
    return name;
  });
  const window: WordWindow =
    date === null ? { mode: "random", since: 0 } : { mode: "daily", from: date, to: date };
  const view = await deps.leaderboards.read({
    family: wordFamily(window),
    tab: "score",
    page: null,
    radius: null,
    ids: [playerId],
  });
  return { username, rank: view.places[0]?.rank ?? view.total };
}

/** Range of results in a leaderboard: daily ones by date, random ones by time (WG-03). */
export function windowOf(
  mode: "daily" | "random",
  period: Period,
  { timeZone, now }: { timeZone: string; now: number },
): WordWindow {
  if (period === "all")
    return mode === "daily" ? { mode, from: null, to: null } : { mode, since: 0 };
  const today = dateIn(timeZone, now);
  const { first, last } = {
    today: () => ({ first: today, last: today }),
    this_week: () => weekOf(today),
    this_month: () => monthOf(today),
  }[period]();
  // No result is later than now, so a leaderboard by time needs no end.
  return mode === "daily"
    ? { mode, from: first, to: last }
    : { mode, since: startOfDate(timeZone, first) };
}

export interface LeaderboardQuery {
  mode: "daily" | "random";
  period: Period;
  timeZone: string;
  limit: number;
  page: number;
  username: string | null;
}

/** A page of a leaderboard; the requested player follows it, unless on the page (WG-04). */
export async function readWordLeaderboard(
  deps: WordGameDeps,
  criteria: LeaderboardQuery,
): Promise<Static<typeof WordLeaderboard>> {
  const { limit, page, username, timeZone } = criteria;
  const named = username === null ? null : await findPlayerByName(deps.em, foldName(username));
  const window = windowOf(criteria.mode, criteria.period, { timeZone, now: deps.clock.now() });
  const view = await deps.leaderboards.read({
    family: wordFamily(window),
    tab: "score",
    radius: null,
    page: { start: (page - 1) * limit, count: limit },
    ids: named === null ? [] : [named],
  });
  const place = view.places[0] ?? null;
  const extra = place !== null && view.page.every(({ id }) => id !== place.id) ? place : null;
  const lines = await words.listWordLines(
    deps.em,
    [...view.page, ...(extra === null ? [] : [extra])].map(({ member }) => resultIdOf(member)),
  );
  const present = ({ member }: Line) => {
    const line = lines.get(resultIdOf(member));
    return line === undefined ? [] : [presentLine(line)];
  };
  const appended =
    extra === null ? [] : present(extra).map((row) => ({ ...row, rank: extra.rank }));
  return {
    data: [...view.page.flatMap(present), ...appended],
    pagination: {
      current_page: page,
      per_page: limit,
      total: view.total,
      last_page: Math.max(1, Math.ceil(view.total / limit)),
    },
  };
}
