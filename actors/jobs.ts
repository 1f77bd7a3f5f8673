import { roomName, type Origin } from "../../../server/platform/origin.ts";
import type { Logger } from "../../../server/platform/log/logger.ts";
import type {
  ActorJob,
  AnyActor,
  BaseCommand,
  BaseEvent,
  BaseState,
  Reply,
} from "../definition.ts";

/** A job without retries in the rules is retried after this share of the time it has waited. */
const retryShare = 1 / 8;
const minRetryMs = 500;
const maxRetryMs = 30_000;

type Ask = (code: string, command: BaseCommand, origin: Origin) => Promise<Reply>;
type Job = ActorJob<BaseState, BaseCommand, BaseEvent>;

/** Runs the jobs that commits request. No caller waits for them, and all of them are idempotent. */
export class ActorJobs {
  readonly #kind: string;
  readonly #jobs: readonly (readonly [name: string, job: Job])[];
  readonly #ask: Ask;
  readonly #log: Logger;
  /** Name and code of running jobs. */
  readonly #running = new Set<string>();

  constructor(deps: { definition: Pick<AnyActor, "kind" | "jobs">; log: Logger; ask: Ask }) {
    this.#kind = deps.definition.kind;
    this.#jobs = Object.entries(deps.definition.jobs);
    this.#ask = deps.ask;
    this.#log = deps.log;
  }

  /** Starts the jobs requested by the events of a commit. */
  start(code: string, state: BaseState, events: readonly BaseEvent[], cause: Origin): void {
    for (const [name, job] of this.#jobs)
      for (const event of events)
        if (event.type === job.startedBy) {
          void this.#run(name, job, code, state, cause);
          break;
        }
  }

  /** Resumes jobs that a dead owner did not finish. */
  resume(code: string, state: BaseState, cause: Origin): void {
    for (const [name, job] of this.#jobs)
      if (job.isPending(state)) void this.#run(name, job, code, state, cause);
  }

  async #run(name: string, job: Job, code: string, state: BaseState, cause: Origin): Promise<void> {
    const key = `${name} ${code}`;
    if (this.#running.has(key)) return;
    this.#running.add(key);
    try {
      const origin = { ...cause, room: roomName(this.#kind, code) };
      // The command that ends the job may request the next one already.
      const command = await job.run(state, code, origin).finally(() => this.#running.delete(key));
      await this.#ask(code, command, origin);
    } catch (error) {
      const facts = { [this.#kind]: code, job: name, reason: String(error) };
      this.#log.warn({ event: "actor_job_failed", ...facts }, "actor job failed, retrying");
    }
  }
}

/** Next retry of a pending job; null without one, or if only deadlines of the rules retry it. */
export function nextRetry(jobs: AnyActor["jobs"], state: BaseState, now: number): number | null {
  let next: number | null = null;
  for (const name in jobs) {
    const job = jobs[name];
    if (!job?.pendingSince || !job.isPending(state)) continue;
    const waited = (now - job.pendingSince(state)) * retryShare;
    const at = now + Math.min(maxRetryMs, Math.max(minRetryMs, waited));
    next = next === null ? at : Math.min(next, at);
  }
  return next;
}
