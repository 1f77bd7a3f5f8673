import { ErrorCode, type Job, type JobType, type Queue } from "bullmq";
import { timestamp, type Clock } from "../../platform/time/clock.ts";
import { AppError } from "../../platform/errors.ts";
import type { Pagination } from "../../http/pipeline/route.ts";
import type { JobBody, QueueBody } from "../schemas.ts";
import { maskData, maskText } from "../../platform/text/masking.ts";

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

/** OPS-08. Failed jobs retried per step; the library repeats the step until none is left. */
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

export function createJobService(queues: readonly Queue[], clock: Clock): JobService {
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
  const present = async (name: string, job: Job) => {
    const state = await job.getState();
    return presentJob(job, state, await dueAt(queueOf(name), job, state));
  };
  return {
    queues: () => Promise.all(queues.map(presentQueue)),
    queue: async (name) => presentQueue(queueOf(name)),
    list: (name, page) => listJobs(queueOf(name), page),
    job: async (name, id) => present(name, await jobOf(name, id)),
    retry: async (name, id) => {
      const job = await jobOf(name, id);
      if ((await job.getState()) !== "failed") throw new AppError("job:not_failed");
      await job.retry("failed").catch((error: unknown) => {
        // Of two concurrent operators, one gets the refusal that the job is no longer failed.
        if (changedMeanwhile.has(codeOf(error)))
          throw new AppError("job:not_failed", { cause: error });
        throw error;
      });
      return present(name, await jobOf(name, id));
    },
    remove: async (name, id) => {
      const job = await jobOf(name, id);
      if ((await job.getState()) === "active") throw new AppError("job:not_removable");
      await job.remove().catch(async (error: unknown) => {
        const isKept =
          codeOf(error) === ErrorCode.JobBelongsToJobScheduler ||
          (await job.getState()) === "active";
        throw isKept ? new AppError("job:not_removable", { cause: error }) : error;
      });
    },
    setPaused: async (name, isPaused) => {
      const queue = queueOf(name);
      await (isPaused ? queue.pause() : queue.resume());
      return presentQueue(queue);
    },
    retryFailed: async (name) => {
      const queue = queueOf(name);
      const { failed = 0 } = await queue.getJobCounts("failed");
      // Those that fail again in the meantime are left alone: the steps would run them twice.
      const timestamp = clock.now();
      if (failed > 0) await queue.retryJobs({ state: "failed", count: retriesPerStep, timestamp });
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

/** The library's reasons why a job cannot be retried, if another operator was faster. */
const changedMeanwhile: ReadonlySet<number> = new Set([
  ErrorCode.JobNotInState,
  ErrorCode.JobNotExist,
]);

/** Code of a refusal of the library; 0 for any other error. */
const codeOf = (error: unknown): number =>
  error instanceof Error && "code" in error && typeof error.code === "number" ? error.code : 0;

async function listJobs(queue: Queue, { state, page, limit }: JobPage) {
  const start = (page - 1) * limit;
  const isOldestFirst = state !== "completed" && state !== "failed";
  const [counts, found] = await Promise.all([
    queue.getJobCounts(state),
    queue.getJobs([state], start, start + limit - 1, isOldestFirst),
  ]);
  const total = counts[state] ?? 0;
  // A job removed between the two reads of the library is undefined.
  const kept = (found as (Job | undefined)[]).flatMap((job) => (job ? [job] : []));
  const jobs = await Promise.all(
    kept.map(async (job) => presentJob(job, state, await dueAt(queue, job, state))),
  );
  return { jobs, pagination: { page, limit, total, has_more: start + limit < total } };
}

async function presentQueue(queue: Queue): Promise<QueueBody> {
  const [counts, isPaused] = await Promise.all([queue.getJobCounts(), queue.isPaused()]);
  return { name: queue.name, is_paused: isPaused, counts };
}

/** The library keeps the due time of a delayed job, in milliseconds, times this. */
const dueScale = 0x1000;

/**
 * When a delayed job is due, in milliseconds. Not the time of its creation and its delay: a retry waits from the
 * failure on.
 */
async function dueAt(queue: Queue, job: Job, state: string): Promise<number | null> {
  if (state !== "delayed") return null;
  const client = await queue.getBackend().client;
  const score = await client.zscore(queue.toKey("delayed"), job.id ?? "");
  return score === null ? null : Math.floor(Number(score) / dueScale);
}

function presentJob(job: Job, state: string, dueMs: number | null): JobBody {
  const time = (ms: number | undefined) => (ms ? timestamp(ms) : null);
  return {
    id: job.id ?? "",
    queue: job.queueName,
    state,
    data: maskData(job.data),
    num_attempts: job.attemptsMade,
    max_attempts: job.opts.attempts ?? 1,
    created_at: timestamp(job.timestamp),
    due_at: dueMs === null ? null : timestamp(dueMs),
    started_at: time(job.processedOn),
    finished_at: time(job.finishedOn),
    failed_reason: job.failedReason ? maskText(job.failedReason) : null,
    stack_traces: (job.stacktrace ?? []).slice(-maxTraces).map((trace) => maskText(trace)),
    result: maskData(job.returnvalue),
  };
}
