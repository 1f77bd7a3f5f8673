import { masked } from "../../features/delivery/domain/outbox.ts";
import type { JobOfRequest } from "../../features/requests/domain/job-reader.ts";
import type { RequestTimeline } from "../../features/requests/domain/timeline.ts";
import { timestamp } from "../../platform/time/clock.ts";
import type { TimelineBody } from "./schemas.ts";

const timeOrNull = (ms: number | null) => (ms === null ? null : timestamp(ms));

/** A timeline as operators see it; texts of others were masked when they were recorded or read. */
export const presentTimeline = (timeline: RequestTimeline): TimelineBody => ({
  id: timeline.id,
  requests: timeline.requests.map(({ atMs, playerId, ...request }) => ({
    ...{ at: timestamp(atMs - request.ms), player_id: playerId },
    ...request,
  })),
  jobs: timeline.jobs.map((job) => presentJob(job, timeline.id)),
  failures: timeline.failures.map(({ id, key, lastMs, example }) => ({
    ...{ id, kind: key.kind, place: key.place, code: key.code, peer: key.peer },
    status: key.status,
    text: example?.text ?? key.text ?? "",
    last_seen_at: timestamp(lastMs),
  })),
  messages: timeline.messages.map((message) => ({
    ...{ id: message.id, kind: message.kind, template: message.template },
    to: masked(message.to),
    status: message.status,
    attempts: message.attempts,
    last_error: message.lastError,
    created_at: timestamp(message.createdAtMs),
    sent_at: timeOrNull(message.sentAtMs),
  })),
  changes: timeline.audited.map(({ atMs, ...change }) => ({ at: timestamp(atMs), ...change })),
  kept_since: timeOrNull(timeline.olderThanMs),
  num_dropped: timeline.numDropped,
  has_requests: timeline.hasRequests,
  has_messages: timeline.hasMessages,
});

function presentJob(job: JobOfRequest, requestId: string): TimelineBody["jobs"][number] {
  const by = job.origin?.requestId ?? null;
  return {
    ...{ queue: job.queue, id: job.id, state: job.state },
    num_attempts: job.numAttempts,
    max_attempts: job.maxAttempts,
    created_at: timestamp(job.createdAtMs),
    started_at: timeOrNull(job.startedAtMs),
    finished_at: timeOrNull(job.finishedAtMs),
    failed_reason: job.failedReason,
    result: job.result ?? null,
    attempts: job.log,
    queued_by: by === requestId ? null : by,
  };
}
