import { setTimeout as pause } from "node:timers/promises";
import type { Job, Queue } from "bullmq";
import type { FaultAction } from "../../db/entities/fault-action.ts";
import type { EndState } from "../../db/queries/faults/actions.ts";
import type {
  ActionJournal,
  SnapshotJob,
} from "../../server/features/faults/domain/action-journal.ts";
import type { FaultStore } from "../../server/platform/faults/store.ts";
import { trialJobs } from "../../server/features/faults/domain/action-bounds.ts";
import { JobYielded, type JobWatch } from "../queues.ts";

export interface ActionTimings {
  /** Longest wait for the first jobs. */
  trialMs: number;
  /** Longest wait for the records of their failures. */
  recordMs: number;
  /** The wait for outcomes ends when none has come for this long, */
  idleMs: number;
  /** and at the latest after this time. */
  longestMs: number;
  /** Between two looks at the jobs. */
  pollEveryMs: number;
}

export const usualTimings: ActionTimings = {
  trialMs: 30_000,
  recordMs: 5_000,
  idleMs: 30_000,
  longestMs: 600_000,
  pollEveryMs: 500,
};

/** Jobs read, retried or removed together. */
const maxTogether = 100;
const maxLooked = 500;
/**
 * A process that was frozen between reading a job and changing it reads it again: meanwhile another run may have
 * changed it. Far below the time after which a job of this queue is taken over.
 */
const readForMs = 2_000;

export interface RunOptions {
  action: FaultAction;
  queue: Queue;
  journal: ActionJournal;
  store: Pick<FaultStore, "failAlike">;
  watch: Pick<JobWatch, "signal" | "stopping">;
  timings: ActionTimings;
  /** Called often, with the phase. */
  onProgress: (phase: Phase) => Promise<void>;
}

export type Phase = "trial" | "retry" | "remove" | "outcomes";

type JobState = "unfinished" | "unchanged" | "failed" | "completed" | "gone";

/**
 * One run of an action on the jobs of a group (OPS-50, OPS-51). A job is changed only while its failure is the one of
 * the snapshot, so that neither a further run nor somebody else's retry makes it run twice.
 */
export class GroupActionRun {
  readonly #options: RunOptions;
  readonly #interrupt: AbortSignal;
  /** Where the next look at the jobs without an outcome begins. */
  #lookFrom = 0;

  constructor(options: RunOptions) {
    this.#options = options;
    this.#interrupt = AbortSignal.any([options.watch.signal, options.watch.stopping]);
  }

  /** How it ended. Throws `JobYielded` when the process stops. */
  async run(): Promise<EndState> {
    try {
      const { kind } = this.#options.action;
      return kind === "remove" ? await this.#remove() : await this.#retry();
    } catch (error) {
      const { signal, stopping } = this.#options.watch;
      if (signal.aborted) return "cancelled";
      if (stopping.aborted) throw new JobYielded("the process stops", { cause: error });
      throw error;
    }
  }

  async #remove(): Promise<EndState> {
    const { journal, onProgress } = this.#options;
    for (;;) {
      this.#interrupt.throwIfAborted();
      // Those of an earlier run first.
      await this.#settleTried();
      const jobs = await journal.next(maxTogether);
      if (jobs.length === 0) return "done";
      await this.#change(jobs);
      await onProgress("remove");
    }
  }

  async #retry(): Promise<EndState> {
    const { journal, action } = this.#options;
    if (await this.#isTrialFailed()) return "stopped";
    const together = Math.max(1, Math.min(maxTogether, Math.floor(action.rate / 4)));
    let lookAt = 0;
    for (;;) {
      this.#interrupt.throwIfAborted();
      const startedAt = performance.now();
      const jobs = await journal.next(together);
      if (jobs.length === 0) break;
      await this.#change(jobs);
      if (startedAt >= lookAt) {
        await this.#look("retry");
        lookAt = startedAt + this.#options.timings.pollEveryMs;
      }
      await this.#sleep((1_000 * jobs.length) / action.rate - (performance.now() - startedAt));
    }
    await this.#awaitOutcomes();
    return "done";
  }

  /** True if the first jobs all failed as before, and others remain. */
  async #isTrialFailed(): Promise<boolean> {
    const { journal, timings } = this.#options;
    let trial = await journal.trial();
    while (trial.length < trialJobs) {
      const jobs = await journal.next(trialJobs - trial.length);
      if (jobs.length === 0) break;
      const before = trial;
      await this.#change(jobs, (claimed) => {
        trial = [...before, ...claimed];
        return journal.saveTrial(trial);
      });
    }
    const states = () => this.#statesOf(trial);
    const waitUntil = performance.now() + timings.trialMs;
    const isOpen = (state: JobState) => state === "unfinished" || state === "unchanged";
    await this.#look("trial");
    while ((await states()).some(({ state }) => isOpen(state)) && performance.now() < waitUntil) {
      await this.#sleep(timings.pollEveryMs);
      await this.#look("trial");
    }
    const { numLeft } = await journal.counts();
    const found = await states();
    if (numLeft === 0 || found.some(({ state }) => state !== "failed")) return false;
    return this.#failAlike(
      found.map(({ job }) => ({ id: job?.id ?? "", failedAtMs: job?.finishedOn ?? 0 })),
    );
  }

  /** Whether jobs that failed again did so for the same cause; true if that is not known in time. */
  async #failAlike(jobs: readonly SnapshotJob[]): Promise<boolean> {
    const { store, action, timings } = this.#options;
    const waitUntil = performance.now() + timings.recordMs;
    for (;;) {
      const isAlike = await store.failAlike(action.groupId, action.place, jobs);
      if (isAlike !== null || performance.now() >= waitUntil) return isAlike ?? true;
      await this.#sleep(timings.pollEveryMs);
    }
  }

  async #awaitOutcomes(): Promise<void> {
    const { journal, timings } = this.#options;
    const startedAt = performance.now();
    let lastAt = startedAt;
    for (;;) {
      this.#interrupt.throwIfAborted();
      if ((await this.#look("outcomes")) > 0) lastAt = performance.now();
      const { numWaiting } = await journal.counts();
      const now = performance.now();
      const isLate = now - lastAt >= timings.idleMs || now - startedAt >= timings.longestMs;
      if (numWaiting === 0 || isLate) return;
      await this.#sleep(timings.pollEveryMs);
    }
  }

  /** Counts the outcomes that have come; returns their number. */
  async #look(phase: Phase): Promise<number> {
    let total = 0;
    for (;;) {
      const settled = await this.#settleTried();
      total += settled;
      if (settled < maxLooked) break;
    }
    await this.#options.onProgress(phase);
    return total;
  }

  /** Retries or removes jobs whose failure is still that of the snapshot; the others are skipped. */
  async #change(
    jobs: readonly SnapshotJob[],
    onClaimed: (claimed: SnapshotJob[]) => Promise<void> = async () => undefined,
  ): Promise<void> {
    const { journal } = this.#options;
    const readAt = performance.now();
    const states = await this.#statesOf(jobs);
    const unchanged = states.filter(({ state }) => state === "unchanged");
    const skipped = states.filter(({ state }) => state !== "unchanged");
    await journal.settle(
      "todo",
      "skipped",
      skipped.map(({ id }) => id),
    );
    const claimed = await journal.claim(unchanged.map(({ id }) => id));
    const mine = unchanged.filter(({ id }) => claimed.has(id));
    await onClaimed(mine.map(({ id, failedAtMs }) => ({ id, failedAtMs })));
    await Promise.all(mine.flatMap(({ job }) => (job ? [this.#changeOne(job, readAt)] : [])));
  }

  /** A job that is not changed here stays among those tried, where it is looked at again. */
  async #changeOne(job: Job, readAt: number): Promise<void> {
    if (performance.now() - readAt > readForMs) return;
    const change = this.#options.action.kind === "remove" ? job.remove() : job.retry("failed");
    await change.catch(async (error: unknown) => {
      if (await job.isFailed()) throw error;
    });
  }

  /**
   * Looks at the next jobs without an outcome, in turns, since some may wait for long; returns how many have one.
   */
  async #settleTried(): Promise<number> {
    const { journal, action } = this.#options;
    const readAt = performance.now();
    const states = await this.#statesOf(await journal.tried(this.#lookFrom, maxLooked));
    const idsOf = (wanted: JobState) =>
      states.filter(({ state }) => state === wanted).map(({ id }) => id);
    // Claimed by a run that ended before it changed them.
    const unchanged = states.filter(({ state }) => state === "unchanged");
    await Promise.all(unchanged.flatMap(({ job }) => (job ? [this.#changeOne(job, readAt)] : [])));
    const isRemoval = action.kind === "remove";
    const gone = idsOf("gone");
    // The queue keeps only the last completed jobs.
    await journal.settle("tried", isRemoval ? "removed" : "succeeded", gone);
    const completed = idsOf("completed");
    await journal.settle("tried", isRemoval ? "skipped" : "succeeded", completed);
    const failed = idsOf("failed");
    await journal.settle("tried", isRemoval ? "skipped" : "failedAgain", failed);
    const running = isRemoval ? idsOf("unfinished") : [];
    await journal.settle("tried", "skipped", running);
    const settled = gone.length + completed.length + failed.length + running.length;
    this.#lookFrom = states.length < maxLooked ? 0 : this.#lookFrom + states.length - settled;
    return settled;
  }

  async #statesOf(jobs: readonly SnapshotJob[]) {
    const { queue } = this.#options;
    return Promise.all(
      jobs.map(async ({ id, failedAtMs }) => {
        const job = (await queue.getJob(id)) as Job | undefined;
        return { id, failedAtMs, job, state: await stateOf(job, failedAtMs) };
      }),
    );
  }

  async #sleep(ms: number): Promise<void> {
    this.#interrupt.throwIfAborted();
    if (ms > 0) await pause(ms, undefined, { signal: this.#interrupt });
  }
}

/** `unchanged`: failed as in the snapshot. A retry forgets when the job ended. */
async function stateOf(job: Job | undefined, failedAtMs: number): Promise<JobState> {
  if (job === undefined) return "gone";
  if (job.finishedOn === undefined) return "unfinished";
  if (job.finishedOn === failedAtMs) return "unchanged";
  return (await job.isFailed()) ? "failed" : "completed";
}
