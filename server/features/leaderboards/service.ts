import type { Static } from "typebox";
import * as rows from "../../../db/queries/leaderboards/leaderboard-rows.ts";
import {
  challengeFamily,
  globalFamily,
  teamFamily,
  type GlobalTab,
  type TeamTab,
} from "./domain/families.ts";
import type { Line, Question } from "./domain/store.ts";
import { AppError } from "../../platform/errors.ts";
import type { LeaderboardDeps } from "./deps.ts";
import { levelOf } from "../progress/domain/levels.ts";
import type * as s from "./schemas.ts";

export interface Paging {
  page: number;
  limit: number;
  search: string | null;
}

const startOf = ({ page, limit }: { page: number; limit: number }) => (page - 1) * limit;
const pagingOf = ({ page, limit }: { page: number; limit: number }, total: number) => ({
  total,
  page,
  has_more: page * limit < total,
});

/** Page of the leaderboard, or of search matches, whose ranks are read by id. */
interface Asked {
  question: Pick<Question, "page" | "ids">;
  matches: rows.Found | null;
}

function askFor(
  { page, limit }: Paging,
  playerId: number | null,
  matches: rows.Found | null,
): Asked {
  const own = playerId === null ? [] : [playerId];
  if (matches !== null) return { question: { page: null, ids: [...own, ...matches.ids] }, matches };
  const start = startOf({ page, limit });
  return { question: { page: { start, count: limit }, ids: own }, matches: null };
}

/** A search with too many matches is too short (LB-04). */
function few(found: rows.Found | null): rows.Found {
  if (found !== null) return found;
  const limit = { parameter: "search", max_matches: rows.maxMatches };
  throw new AppError("request:invalid_query", { params: limit });
}

/** The global leaderboard (LB-01, LB-02). Ranks are those of the whole leaderboard, also in a search. */
export async function readGlobalLeaderboard(
  deps: LeaderboardDeps,
  playerId: number | null,
  asked: Paging & { tab: GlobalTab },
): Promise<Static<typeof s.GlobalLeaderboard>> {
  const { tab, limit, search } = asked;
  const page = { tab, limit, offset: startOf(asked) };
  const matches = search === null ? null : few(await rows.searchPlayers(deps.em, search, page));
  const { question } = askFor(asked, playerId, matches);
  const request = { family: globalFamily, tab, radius: null, ...question };
  const view = await deps.leaderboards.read(request);
  const places = playerId === null ? view.places : view.places.slice(1);
  const lines = matches === null ? view.page : places.filter((line) => line !== null);
  const own = playerId === null ? null : (view.places[0] ?? null);
  const shown = await rows.listPlayerLines(
    deps.em,
    lines.map(({ id }) => id),
    tab,
  );
  return {
    entries: lines.flatMap((line) => presentPlayer(line, shown.get(line.id), playerId)),
    ...pagingOf(asked, matches?.total ?? view.total),
    player_rank: own === null ? null : { rank: own.rank, value: own.value },
  };
}

function presentPlayer(
  { id, rank, value }: Line,
  row: rows.PlayerLine | undefined,
  playerId: number | null,
): Static<typeof s.GlobalEntry>[] {
  if (row === undefined) return [];
  return [
    {
      rank,
      rank_prev: row.previousRank ?? rank,
      player_id: id,
      name: row.name,
      value,
      total_score: row.totalScore,
      total_xp: row.totalXp,
      total_answers: row.totalAnswers,
      accuracy: row.accuracy,
      best_streak: row.bestStreak,
      level: levelOf(row.totalXp),
      is_player: id === playerId,
      is_guest: row.isGuest,
      avatar_v: row.avatarV,
    },
  ];
}

/** The leaderboard of a challenge that exists (LB-03). */
export async function readChallengeLeaderboard(
  deps: LeaderboardDeps,
  playerId: number | null,
  asked: Paging & { challengeId: number; radius: number },
): Promise<Static<typeof s.ChallengeLeaderboard>> {
  const { challengeId, limit, search, radius } = asked;
  const page = { challengeId, limit, offset: startOf(asked) };
  const matches = search === null ? null : few(await rows.searchRuns(deps.em, search, page));
  const { question } = askFor(asked, playerId, matches);
  const view = await deps.leaderboards.read({
    family: challengeFamily(challengeId),
    tab: "score",
    radius: playerId === null ? null : radius,
    ...question,
  });
  const places = playerId === null ? view.places : view.places.slice(1);
  const top = matches === null ? view.page : places.filter((line) => line !== null);
  const ids = new Set([...top, ...view.around].map(({ id }) => id));
  const shown = await rows.listRunLines(deps.em, challengeId, [...ids]);
  const present = (line: Line) => presentRun(line, shown.get(line.id), playerId);
  return {
    top: top.flatMap(present),
    context: view.around.flatMap(present),
    player_rank: playerId === null ? null : (view.places[0]?.rank ?? null),
    ...pagingOf(asked, matches?.total ?? view.total),
  };
}

function presentRun(
  { id, rank, value }: Line,
  row: rows.RunLine | undefined,
  playerId: number | null,
): Static<typeof s.ChallengeEntry>[] {
  if (row === undefined) return [];
  return [
    {
      rank,
      player_id: id,
      name: row.name,
      score: value,
      num_correct: row.numCorrect,
      best_streak: row.bestStreak,
      total_time_ms: row.totalTimeMs,
      is_player: id === playerId,
    },
  ];
}

/** A player's rank among the finished runs of a challenge; null without one (RUN-07). */
export async function readChallengeRank(
  deps: LeaderboardDeps,
  challengeId: number,
  playerId: number,
): Promise<number | null> {
  const family = challengeFamily(challengeId);
  const question = { family, tab: "score", page: null, ids: [playerId], radius: null };
  return (await deps.leaderboards.read(question)).places[0]?.rank ?? null;
}

/** The leaderboard of teams (LB-06). */
export async function readTeamLeaderboard(
  deps: LeaderboardDeps,
  asked: { metric: TeamTab; page: number; limit: number },
): Promise<Static<typeof s.TeamLeaderboard>> {
  const page = { start: startOf(asked), count: asked.limit };
  const view = await deps.leaderboards.read({
    family: teamFamily,
    tab: asked.metric,
    page,
    ids: [],
    radius: null,
  });
  const names = await rows.listTeamNames(
    deps.em,
    view.page.map(({ id }) => id),
  );
  return {
    entries: view.page.flatMap(({ id, rank, value }) => {
      const name = names.get(id);
      return name === undefined ? [] : [{ rank, team_id: id, name, value }];
    }),
    ...pagingOf(asked, view.total),
  };
}
