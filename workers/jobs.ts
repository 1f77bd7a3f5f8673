import { Queue, UnrecoverableError, WaitingError, Worker, type Job } from "bullmq";
import type { Redis } from "ioredis";
import { Compile } from "typebox/compile";
import { noFaults, type FaultRecorder } from "../server/platform/faults/recorder.ts";
import { noJobTimes, type JobTimesRecorder } from "../server/platform/job-times/recorder.ts";
import { noOrigin, originFacts, readOrigin, type Origin } from "../server/platform/origin.ts";
import { withTimeout } from "../server/platform/time/deadline.ts";
import type { Logger } from "../server/platform/log/logger.ts";
import type { Metrics } from "../server/platform/metrics/metrics.ts";
import { connectRedis } from "../server/platform/redis/redis.ts";
import type { OpenSpan, Tracer } from "../server/platform/tracing/tracer.ts";
import { logAttempt, originalError, storedError } from "./attempts.ts";
import { errorNameOf, originOf, startJobSpan } from "./job-span.ts";
import { attemptOf } from "./job-times.ts";
import { isLeft, leaveToNewerRelease } from "./newer-jobs.ts";
import {
  allQueues,
  JobYielded,
  queuePrefixOf,
  type JobWatch,
  type QueueDefinition,
} from "./queues.ts";
import { watchJob } from "./watch.ts";

/**
 * Processors by queue name. A job may run twice, late, or in two processes at once (S38). Its payload has
 * been validated against the queue's schema.
 */
export type Processors<D> = Readonly<
  Record<string, ((payload: never, deps: D, watch?: JobWatch) => Promise<unknown>) | undefined>
>;

export interface JobsOptions<D> {
  redisUrl: string;
  log: Logger;
  metrics: Metrics;
  processors: Processors<D>;
  /** Steps after a job has failed for good; by then operators see it as failed. */
  failureSteps?: Processors<D>;
  /** Takes failed attempts. Default: they are logged only. */
  faults?: FaultRecorder;
  /** Takes how long jobs wait and run. Default: nobody does. */
  times?: JobTimesRecorder;
  /** Makes traces. Default: there are none. */
  tracer?: Tracer | null;
  /** Name of this process in the logs of jobs. */
  workerName?: string;
  /** Dependencies of one job, including its own `em`; work that it queues goes back to the origin of the job. */
  depsOf: (origin: Origin) => D;
  /** How long a job stays locked by a worker that does not renew the lock; for tests. */
  lockMs?: number;
  /** Pause before a job of a newer release is looked at again; for tests. */
  newerJobPauseMs?: number;
  /** How long running jobs may take to finish when the process stops; for tests. */
  closeMs?: number;
}

export interface Jobs {
  /** Takes no new jobs and lets running ones finish. */
  close(): Promise<void>;
}

/**
 * Jobs of a worker that crashes are retried this many times, because one of them may cause the crash. An
 * orderly stop waits for short jobs, so only that many crashes during a job exhaust the retries.
 */
const maxStalledCount = 5;
const usualLockMs = 30_000;
const usualWorkerName = `pid-${process.pid}`;
const usualCloseMs = 10_000;
/** How long a worker waits on an empty queue before it polls again; the library's maximum. */
const drainDelaySeconds = 10;

/** Starts one BullMQ worker for each queue that has a processor. */
export async function startJobs<D>(options: JobsOptions<D>): Promise<Jobs> {
  const connections: Redis[] = [];
  const stopping = new AbortController();
  const workers = allQueues
    .filter((definition) => options.processors[definition.name])
    .map((definition) => {
      const name = `worker-${definition.name}`;
      const connection = connectRedis(options.redisUrl, options.log, name, {
        waitsForConnection: true,
      });
      connections.push(connection);
      return startWorker(definition, connection, { ...options, stopping: stopping.signal });
    });
  await Promise.all(workers.map((worker) => worker.waitUntilReady()));
  return {
    close: async () => {
      stopping.abort();
      const { closeMs = usualCloseMs } = options;
      await Promise.allSettled(workers.map((worker) => closeWorker(worker, closeMs)));
      for (const connection of connections) connection.disconnect();
    },
  };
}

/**
 * After Redis was unreachable, the library may wait for an answer that never arrives. Jobs still running at
 * the limit are left to other workers, which take them over when the lock expires (S38). A forced close
 * would wait as well.
 */
async function closeWorker(worker: Worker, limitMs: number): Promise<void> {
  await withTimeout(worker.close(), limitMs);
}

interface WorkerOptions<D> extends JobsOptions<D> {
  /** Aborted when the process stops. */
  stopping: AbortSignal;
}

function startWorker<D>(
  definition: QueueDefinition,
  connection: Redis,
  options: WorkerOptions<D>,
): Worker {
  const { log, metrics, faults = noFaults, times = noJobTimes, lockMs = usualLockMs } = options;
  const queue = definition.name;
  const worker = new Worker(queue, runnerOf(definition, connection, options), {
    connection,
    prefix: queuePrefixOf(connection),
    concurrency: definition.concurrency,
    drainDelay: drainDelaySeconds,
    lockDuration: lockMs,
    stalledInterval: lockMs,
    maxStalledCount,
  });
  void limitGlobally(definition, connection, log);
  worker.on("completed", (job) => {
    metrics.jobs.inc({ queue, outcome: "completed" });
    times.record(attemptOf(job, "completed", Date.now()));
  });
  worker.on("stalled", (jobId) => {
    metrics.jobs.inc({ queue, outcome: "stalled" });
    log.warn({ event: "job_stalled", queue, jobId }, "job stalled, running it again");
  });
  worker.on("failed", (job, error) => {
    const isLast = isFinal(job, error);
    const outcome = isLast ? "failed" : "retried";
    metrics.jobs.inc({ queue, outcome });
    if (job) times.record(attemptOf(job, outcome, Date.now()));
    const { origin } = contentOf(job);
    const facts = {
      ...{ queue, jobId: job?.id, attempt: job?.attemptsMade, reason: error.message },
      ...originFacts(origin),
    };
    if (isLast) log.error({ event: "job_failed", ...facts }, "job failed, no further attempt");
    else log.warn({ event: "job_attempt_failed", ...facts }, "job attempt failed, retrying");
    const failed = { queue, id: job?.id ?? "", attempt: job?.attemptsMade ?? 0, isFinal: isLast };
    const occurrence = { place: queue, error: originalError(error), origin };
    faults.record({ kind: "job", ...occurrence, job: failed });
    if (isLast && job) void endWork(definition, job, options);
  });
  worker.on("error", (error) =>
    log.warn(
      { event: "queue_connection_failed", queue, reason: error.message },
      "queue connection failed, reconnecting",
    ),
  );
  return worker;
}

/** The library keeps this limit with the queue; another process has usually set it before. */
async function limitGlobally(
  { name, globalConcurrency }: QueueDefinition,
  connection: Redis,
  log: Logger,
): Promise<void> {
  if (globalConcurrency === undefined) return;
  const prefix = queuePrefixOf(connection);
  const queue = new Queue(name, { connection, prefix, skipVersionCheck: true });
  queue.on("error", () => undefined);
  await queue
    .setGlobalConcurrency(globalConcurrency)
    .catch((error: unknown) =>
      log.warn(
        { event: "queue_limit_failed", queue: name, err: error },
        "could not limit a queue over all processes, the next start repeats it",
      ),
    );
}

function runnerOf<D>(definition: QueueDefinition, connection: Redis, options: WorkerOptions<D>) {
  const check = Compile(definition.payload);
  const process = options.processors[definition.name];
  const worker = options.workerName ?? usualWorkerName;
  const { tracer = null } = options;
  const run = async (
    job: Job,
    token: string | undefined,
    span: OpenSpan | null,
  ): Promise<unknown> => {
    await leaveToNewerRelease(job, token, { pauseMs: options.newerJobPauseMs });
    const { payload, origin } = contentOf(job);
    if (!process || !check.Check(payload))
      throw new UnrecoverableError("the payload does not fit the queue");
    const deps = options.depsOf(originOf(origin, span));
    if (definition.isWatched !== true) return process(payload as never, deps);
    const { watch, stop } = watchJob(job, connection, options);
    return process(payload as never, deps, watch).finally(stop);
  };
  return async (job: Job, token?: string): Promise<unknown> => {
    const startedAt = performance.now();
    const { name } = definition;
    const span = tracer && startJobSpan(tracer, name, job, contentOf(job).origin, startedAt);
    try {
      const result = await run(job, token, span);
      span?.end(performance.now());
      return result;
    } catch (error) {
      const goesOn = isLeft(error) || error instanceof JobYielded;
      span?.end(performance.now(), {}, goesOn ? null : errorNameOf(error));
      if (isLeft(error)) throw error;
      if (error instanceof JobYielded) {
        await job.moveToWait(token);
        throw new WaitingError();
      }
      const duration = performance.now() - startedAt;
      await logAttempt(job, {
        error,
        duration,
        atMs: Date.now(),
        worker,
        origin: contentOf(job).origin,
      });
      throw storedError(error);
    }
  };
}

/** The origin lies beside the payload; jobs of an earlier version, and those that operators add, have none. */
function contentOf(job: Job | undefined): { payload: unknown; origin: Origin } {
  const data: unknown = job?.data;
  if (typeof data !== "object" || data === null || !("origin" in data))
    return { payload: data, origin: noOrigin };
  const { origin, ...payload } = data;
  return { payload, origin: readOrigin(origin) };
}

/** Never rejects; the clean-up finds whatever fails here. */
async function endWork<D>(definition: QueueDefinition, job: Job, options: JobsOptions<D>) {
  const failureStep = options.failureSteps?.[definition.name];
  const { payload, origin } = contentOf(job);
  if (!failureStep || !Compile(definition.payload).Check(payload)) return;
  try {
    await failureStep(payload as never, options.depsOf(origin));
  } catch (error) {
    options.log.error(
      { event: "job_failure_step_failed", err: error, queue: definition.name, jobId: job.id },
      "failure step of a job failed",
    );
  }
}

/** True if no further attempt follows. */
function isFinal(job: Job | undefined, error: Error): boolean {
  if (job === undefined || error.name === "UnrecoverableError") return true;
  return job.attemptsMade >= (job.opts.attempts ?? 1);
}
