import { releaseQuestions } from "../../db/queries/runs/challenges.ts";
import { trimChanges } from "../../db/queries/leaderboards/leaderboard-changes.ts";
import {
  hasSnapshot,
  isAnsweredSince,
  takeSnapshot,
} from "../../db/queries/leaderboards/rank-snapshots.ts";
import { endStaleRuns } from "../../db/queries/runs/runs.ts";
import type { Leaderboards } from "../../server/features/leaderboards/domain/leaderboards.ts";
import { earliestDate } from "../../server/platform/time/days.ts";
import type {
  WithClock,
  WithEm,
  WithFaults,
  WithLog,
  WithOrigin,
  WithRedis,
} from "../../server/platform/capabilities.ts";
import { datesDue, makeChallenges } from "../../server/features/runs/domain/challenges.ts";
import { listAllLiveInLobbies, listLiveInLobbies } from "../../server/features/runs/domain/live.ts";

const dayMs = 86_400_000;
/** A snapshot up to this late still counts as midnight's. */
const snapshotDelayMs = 10 * 60_000;
/** An endless run without an answer for this long ends (RUN-03), and is no longer waited for. */
const staleMs = dayMs;
const maxEnded = 1_000;
/** Questions that a category keeps in the competition pool (TRV-12). */
const keptQuestions = 20;

export interface TidyLeaderboardsDeps extends WithEm, WithClock, WithLog {
  leaderboards: Pick<Leaderboards, "tidy">;
}
export interface TidyChallengesDeps
  extends WithEm, WithClock, WithLog, WithFaults, WithOrigin, WithRedis {}

/** Projects pending changes, deletes old ones, and stores the ranks at midnight (LB-02). */
export async function tidyLeaderboards(deps: TidyLeaderboardsDeps): Promise<void> {
  await deps.leaderboards.tidy();
  await trimChanges(deps.em);
  await keepRanks(deps);
}

/**
 * Ranks read after midnight equal those of midnight only if nothing was answered since. If the service was
 * down at midnight and players answered afterwards, this day gets no snapshot.
 */
async function keepRanks(deps: TidyLeaderboardsDeps): Promise<void> {
  const now = deps.clock.now();
  const midnight = new Date(now - (now % dayMs));
  const day = midnight.toISOString().slice(0, 10);
  if (await hasSnapshot(deps.em, day)) return;
  const isLate = now - midnight.getTime() > snapshotDelayMs;
  if (isLate && (await isAnsweredSince(deps.em, midnight))) return;
  await deps.em.transactional((em) => takeSnapshot(em, day, new Date(now)));
  deps.log.info({ event: "rank_snapshot_taken", day }, "snapshot of ranks taken");
}

/** Creates the challenges of the coming dates, releases the questions of past ones, ends abandoned runs. */
export async function tidyChallenges(deps: TidyChallengesDeps): Promise<void> {
  const now = deps.clock.now();
  const avoid = (category: string, difficulty: string) =>
    listLiveInLobbies(deps, category, difficulty);
  await makeChallenges(deps.em, datesDue(now), { now, avoid });
  const spent = {
    before: earliestDate(now),
    keep: keptQuestions,
    now: new Date(now),
    since: new Date(now - staleMs),
    live: await listAllLiveInLobbies(deps),
  };
  const moved = await deps.em.transactional((em) => releaseQuestions(em, spent));
  if (moved > 0)
    deps.log.info(
      { event: "questions_released", count: moved },
      "questions of past challenges released",
    );
  const stale = { before: new Date(now - staleMs), now: new Date(now), limit: maxEnded };
  while ((await endStaleRuns(deps.em, stale)) === maxEnded) continue;
}
