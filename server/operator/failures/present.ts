import type { Failure } from "../../features/faults/domain/failures.ts";
import { numLastHour } from "../../features/faults/domain/states.ts";
import { timestamp } from "../../platform/time/clock.ts";
import type { FailureBody } from "./schemas.ts";

const timeOrNull = (ms: number | null | undefined) => (ms == null ? null : timestamp(ms));

/** A group as operators see it; its texts were masked when they were recorded. */
export function presentFailure(failure: Failure): FailureBody {
  const { id, key, state, decision, example, periods } = failure;
  return {
    id,
    ...key,
    state,
    state_by: decision?.stateBy ?? null,
    state_at: timeOrNull(decision?.stateAt?.getTime()),
    ignored_until: timeOrNull(decision?.ignoredUntil?.getTime()),
    ignored_more: decision?.ignoredMore ?? null,
    note: decision?.note ?? null,
    note_by: decision?.noteBy ?? null,
    note_at: timeOrNull(decision?.noteAt?.getTime()),
    first_seen_at: timestamp(failure.firstMs),
    last_seen_at: timestamp(failure.lastMs),
    num_occurrences: failure.total,
    num_last_hour: numLastHour(failure),
    num_last_day: periods.reduce((sum, count) => sum + count, 0),
    num_players: failure.numPlayers,
    num_failed_jobs: failure.numJobs,
    failed_jobs_since: timeOrNull(failure.jobsFromMs),
    example: example && {
      at: timestamp(example.atMs),
      text: example.text,
      stack: example.stack,
      request_id: example.requestId,
      player_id: example.playerId,
      room: example.room,
      job: example.job,
      process: example.process,
    },
  };
}
