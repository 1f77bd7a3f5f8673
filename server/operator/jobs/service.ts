import { ErrorCode, type Job, type JobType, type Queue } from "bullmq";
import type { Clock } from "../../platform/time/clock.ts";
import { AppError } from "../../platform/errors.ts";
import type { Pagination } from "../../http/pipeline/route.ts";
import type { JobBody, QueueBody } from "../schemas.ts";
import { presentDetail, presentJob } from "./present.ts";
import { readQueue, type QueueStateDeps } from "./queue-state.ts";
import type { JobDetail } from "./schemas.ts";

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
/** Lines of the log of a job that are shown, the last ones. */
const maxLines = 20;

/** Operator actions on queues and jobs; unknown ones throw `queue:not_found` or `job:not_found`. */
export interface JobService {
  queues(): Promise<QueueBody[]>;
  queue(name: string): Promise<QueueBody>;
  list(name: string, page: JobPage): Promise<{ jobs: JobBody[]; pagination: Pagination }>;
  job(name: string, id: string): Promise<JobBody>;
  /** A job with its attempts. */
  detail(name: string, id: string): Promise<JobDetail>;
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

/** Where the due times of retries are not recorded. */
const noTimes: QueueStateDeps["times"] = { dueOf: async () => null };

export function createJobService(
  queues: readonly Queue[],
  clock: Clock,
  times: QueueStateDeps["times"] = noTimes,
): JobService {
  const present = (queue: Queue) => readQueue(queue, { now: () => clock.now(), times });
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
  const read = async (name: string, job: Job) => {
    const state = await job.getState();
    return presentJob(job, state, await dueAt(queueOf(name), job, state));
  };
  return {
    queues: () => Promise.all(queues.map(present)),
    queue: async (name) => present(queueOf(name)),
    list: async (name, page) => listJobs(queueOf(name), page),
    job: async (name, id) => read(name, await jobOf(name, id)),
    detail: async (name, id) => {
      const job = await jobOf(name, id);
      const [body, { logs }] = await Promise.all([
        read(name, job),
        queueOf(name).getJobLogs(id, -maxLines, -1),
      ]);
      return presentDetail(body, job, logs);
    },
    retry: async (name, id) => {
      const job = await jobOf(name, id);
      if ((await job.getState()) !== "failed") throw new AppError("job:not_failed");
      await job.retry("failed").catch((error: unknown) => {
        // Of two concurrent operators, one gets the refusal that the job is no longer failed.
        if (changedMeanwhile.has(codeOf(error)))
          throw new AppError("job:not_failed", { cause: error });
        throw error;
      });
      return read(name, await jobOf(name, id));
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
      return present(queue);
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
