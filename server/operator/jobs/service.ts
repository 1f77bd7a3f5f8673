import type { Job, JobType, Queue } from "bullmq";
import { timestamp } from "../../platform/time/clock.ts";
import { AppError } from "../../platform/errors.ts";
import type { Pagination } from "../../http/pipeline/route.ts";
import type { JobBody, QueueBody } from "../schemas.ts";
import { maskData, maskText } from "./masking.ts";

/** Job states for lists, as BullMQ names them. */
export const jobStates = [
  "waiting",
  "active",
  "delayed",
  "prioritized",
  "waiting-children",
  "completed",
  "failed",
] as const satisfies readonly JobType[];
export type ListedState = (typeof jobStates)[number];

/** Failed jobs retried per step; the library repeats the step until none is left. */
const retriesPerStep = 1_000;
const maxTraces = 3;

/** Operator actions on queues and jobs; unknown ones throw `queue:not_found` or `job:not_found`. */
export interface JobService {
  queues(): Promise<QueueBody[]>;
  queue(name: string): Promise<QueueBody>;
  list(name: string, page: JobPage): Promise<{ jobs: JobBody[]; pagination: Pagination }>;
  job(name: string, id: string): Promise<JobBody>;
  /** Throws `job:not_failed` unless the job has failed for good. */
  retry(name: string, id: string): Promise<JobBody>;
  /** Throws `job:not_removable` for a job that is running or belongs to a schedule. */
  remove(name: string, id: string): Promise<void>;
  setPaused(name: string, isPaused: boolean): Promise<QueueBody>;
  /** Retries all failed jobs and returns their number. */
  retryFailed(name: string): Promise<number>;
}

export interface JobPage {
  state: ListedState;
  page: number;
  limit: number;
}

export function createJobService(queues: readonly Queue[]): JobService {
  const queueOf = (name: string): Queue => {
    const queue = queues.find((each) => each.name === name);
    if (!queue) throw new AppError("queue:not_found");
    return queue;
  };
  const jobOf = async (name: string, id: string): Promise<Job> => {
    const job = await findJob(queueOf(name), id);
    if (!job) throw new AppError("job:not_found");
    return job;
  };
  const present = async (job: Job) => presentJob(job, await job.getState());
  return {
    queues: () => Promise.all(queues.map(presentQueue)),
    queue: async (name) => presentQueue(queueOf(name)),
    list: (name, page) => listJobs(queueOf(name), page),
    job: async (name, id) => present(await jobOf(name, id)),
    retry: async (name, id) => {
      const job = await jobOf(name, id);
      if ((await job.getState()) !== "failed") throw new AppError("job:not_failed");
      // Of two concurrent operators, one gets the refusal that the job is no longer failed.
      await job.retry("failed").catch((cause: unknown) => refuseChanged(cause, "job:not_failed"));
      return jobOf(name, id).then(present);
    },
    remove: async (name, id) => {
      const job = await jobOf(name, id);
      if ((await job.getState()) === "active") throw new AppError("job:not_removable");
      await job.remove().catch((cause: unknown) => refuseChanged(cause, "job:not_removable"));
    },
    setPaused: async (name, isPaused) => {
      const queue = queueOf(name);
      await (isPaused ? queue.pause() : queue.resume());
      return presentQueue(queue);
    },
    retryFailed: async (name) => {
      const queue = queueOf(name);
      const { failed = 0 } = await queue.getJobCounts("failed");
      if (failed > 0) await queue.retryJobs({ state: "failed", count: retriesPerStep });
      return failed;
    },
  };
}

/**
 * The library treats any key with a matching name as a job, including its own, such as `meta` or `failed`.
 */
export async function findJob(queue: Queue, id: string): Promise<Job | undefined> {
  const found: Job | undefined = await queue.getJob(id).catch((error: unknown) => {
    if (error instanceof Error && error.message.startsWith("WRONGTYPE")) return undefined;
    throw error;
  });
  return found && Number.isFinite(found.timestamp) ? found : undefined;
}

const changedMeanwhile = /locked|belongs to a job scheduler|not in the failed state|Missing key/i;

/** Recognizes a refusal of the library by its message, since it has no error codes; rethrows other errors. */
function refuseChanged(cause: unknown, code: "job:not_failed" | "job:not_removable"): never {
  if (cause instanceof Error && changedMeanwhile.test(cause.message))
    throw new AppError(code, { cause });
  throw cause;
}

async function listJobs(queue: Queue, { state, page, limit }: JobPage) {
  const start = (page - 1) * limit;
  const isOldestFirst = state !== "completed" && state !== "failed";
  const [counts, found] = await Promise.all([
    queue.getJobCounts(state),
    queue.getJobs([state], start, start + limit - 1, isOldestFirst),
  ]);
  const total = counts[state] ?? 0;
  // A job removed between the two reads of the library is undefined.
  const jobs = (found as (Job | undefined)[]).flatMap((job) =>
    job ? [presentJob(job, state)] : [],
  );
  return { jobs, pagination: { page, limit, total, has_more: start + limit < total } };
}

async function presentQueue(queue: Queue): Promise<QueueBody> {
  const [counts, isPaused] = await Promise.all([queue.getJobCounts(), queue.isPaused()]);
  return { name: queue.name, is_paused: isPaused, counts };
}

function presentJob(job: Job, state: string): JobBody {
  const time = (ms: number | undefined) => (ms ? timestamp(ms) : null);
  return {
    id: job.id ?? "",
    queue: job.queueName,
    state,
    data: maskData(job.data),
    num_attempts: job.attemptsMade,
    max_attempts: job.opts.attempts ?? 1,
    created_at: timestamp(job.timestamp),
    due_at: job.delay > 0 ? time(job.timestamp + job.delay) : null,
    started_at: time(job.processedOn),
    finished_at: time(job.finishedOn),
    failed_reason: job.failedReason ? maskText(job.failedReason) : null,
    stack_traces: (job.stacktrace ?? []).slice(-maxTraces).map(maskText),
    result: maskData(job.returnvalue),
  };
}
