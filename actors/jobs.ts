import { roomName, type Origin } from "../server/platform/origin.ts";
import type { Rooms } from "./rooms.ts";
import type { Router } from "./router.ts";
import type { BaseCommand, BaseEvent, BaseState, RoomJob } from "./rules.ts";
import type { Shared } from "./shared.ts";

type Job = RoomJob<BaseState, BaseCommand, BaseEvent>;

export interface RoomJobsDeps extends Shared {
  rooms: Rooms;
  router: Router;
}

/** Runs the jobs that commits request. No caller waits for them, and all of them are idempotent. */
export class RoomJobs {
  readonly #deps: RoomJobsDeps;
  readonly #jobs: readonly (readonly [name: string, job: Job])[];
  /** Name and code of running jobs. */
  readonly #running = new Set<string>();

  constructor(deps: RoomJobsDeps) {
    this.#deps = deps;
    const { kind, rooms } = deps;
    this.#jobs = Object.entries(kind.jobs);
    rooms.committed.on((code, state, events, cause) => this.#start(code, state, events, cause));
    rooms.loaded.on((code, state, cause) => this.#resume(code, state, cause));
  }

  /** Starts the jobs requested by the events of a commit. */
  #start(code: string, state: BaseState, events: readonly BaseEvent[], cause: Origin): void {
    for (const [name, job] of this.#jobs)
      for (const event of events)
        if (event.type === job.startedBy) {
          void this.#run(name, job, code, state, cause);
          break;
        }
  }

  /** Resumes jobs that a dead owner did not finish. */
  #resume(code: string, state: BaseState, cause: Origin): void {
    for (const [name, job] of this.#jobs)
      if (job.isPending(state)) void this.#run(name, job, code, state, cause);
  }

  async #run(name: string, job: Job, code: string, state: BaseState, cause: Origin): Promise<void> {
    const { router, log } = this.#deps;
    const { kind } = this.#deps.kind;
    const key = `${name} ${code}`;
    if (this.#running.has(key)) return;
    this.#running.add(key);
    try {
      const origin = { ...cause, room: roomName(kind, code) };
      // The command that ends the job may request the next one already.
      const command = await job.run(state, code, origin).finally(() => this.#running.delete(key));
      await router.ask(code, command, undefined, origin);
    } catch (error) {
      const facts = { [kind]: code, job: name, reason: String(error) };
      log.warn({ event: "actor_job_failed", ...facts }, "job of a room failed, retrying");
    }
  }
}
