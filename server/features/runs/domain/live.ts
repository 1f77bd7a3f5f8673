import { recordDegraded } from "../../../platform/faults/degraded.ts";
import { listChallengeQuestions } from "../../../../db/queries/runs/challenges.ts";
import { earliestDate, latestDate } from "../../../platform/time/days.ts";
import type {
  WithClock,
  WithEm,
  WithFaults,
  WithLog,
  WithOrigin,
  WithRedis,
  WithResponseCache,
} from "../../../platform/capabilities.ts";
import { categories, difficulties } from "../../questions/providers/question-model.ts";

/** Minimum time a drawn question counts as live: a lobby does not report the end of its use. */
const minLiveMs = 30 * 60_000;
/** A long game uses its last questions later: the longest timer and a pause per question. */
const perQuestionMs = 90_000;
/** Maximum questions in one draw of a game. */
const maxGameSize = 100;
/** Maximum live questions stored per category and difficulty. */
const liveLimit = 500;

const dayMs = 86_400_000;

type LiveDeps = WithClock & WithRedis & WithLog & WithFaults & WithOrigin;

const keyOf = (category: string, difficulty: string) => `live-questions:${category}:${difficulty}`;

/**
 * Cached, since questions of challenges change once a day: a query would take 0.7 ms, a draw takes 0.1 (`bench --
 * trivia` of 78e86f62).
 */
const challengesTtlMs = 60_000;

/** Question ids of the playable and the coming challenges (TRV-12, S15). */
export async function listInChallenges(
  deps: WithEm & WithClock & WithResponseCache,
): Promise<number[]> {
  const { json } = await deps.bodies.fetch("play/live-challenges", challengesTtlMs, async () => {
    const now = deps.clock.now();
    const [first, last] = [earliestDate(now - dayMs), latestDate(now + dayMs)];
    return JSON.stringify(await listChallengeQuestions(deps.em, first, last));
  });
  return JSON.parse(json) as number[];
}

/**
 * Ids recently drawn for other lobbies (LOB-24); needs no Postgres connection. While Redis is down the preference is
 * skipped.
 */
export async function listLiveInLobbies(
  deps: LiveDeps,
  category: string,
  difficulty: string,
): Promise<number[]> {
  try {
    return await readLive(deps, [keyOf(category, difficulty)]);
  } catch (error) {
    deps.log.warn(
      { event: "live_questions_read_failed", reason: String(error) },
      "live questions not read, none is left out of the draw",
    );
    recordDegraded(deps, "live-questions", error, deps.origin);
    return [];
  }
}

/** Live ids of all categories and difficulties. Throws while Redis is down: they decide what stays secret. */
export const listAllLiveInLobbies = (deps: LiveDeps): Promise<number[]> =>
  readLive(
    deps,
    categories.flatMap((category) => difficulties.map((each) => keyOf(category, each))),
  );

async function readLive(
  { clock, redis }: Pick<LiveDeps, "clock" | "redis">,
  keys: readonly string[],
): Promise<number[]> {
  const now = clock.now();
  const lists = await Promise.all(keys.map((key) => redis.zrangebyscore(key, now, "+inf")));
  return lists.flat().map(Number);
}

/**
 * Returns the ids that were live already: of concurrent draws of a question, one is the first. `gameSize`: questions
 * drawn for the game at once; the last of them are played long after the draw.
 */
export async function markLive(
  deps: LiveDeps,
  category: string,
  difficulty: string,
  ids: readonly number[],
  gameSize: number,
): Promise<number[]> {
  if (ids.length === 0) return [];
  const key = keyOf(category, difficulty);
  const now = deps.clock.now();
  const until = now + Math.max(minLiveMs, gameSize * perQuestionMs);
  try {
    const batch = deps.redis.multi().zremrangebyscore(key, "-inf", now);
    for (const id of ids) batch.zadd(key, "NX", until, id);
    const replies = await batch
      .zadd(key, "GT", ...ids.flatMap((id) => [until, id]))
      .zremrangebyrank(key, 0, -liveLimit - 1)
      .pexpire(key, maxGameSize * perQuestionMs)
      .exec();
    return ids.filter((_, at) => replies?.[at + 1]?.[1] === 0);
  } catch (error) {
    deps.log.warn(
      { event: "live_questions_mark_failed", reason: String(error) },
      "live questions not marked, another draw may have them too",
    );
    recordDegraded(deps, "live-questions", error, deps.origin);
    return [];
  }
}
