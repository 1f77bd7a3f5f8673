import type { Queue } from "bullmq";
import type { Static, TObject } from "typebox";
import type { Logger } from "../server/platform/log/logger.ts";
import type { Origin } from "../server/platform/origin.ts";
import type { JobNotes, Queues } from "./producer.ts";
import type { QueueDefinition } from "./queues.ts";

/** What producers do with queues. */
export interface JobQueues extends Omit<Queues, "all"> {
  /** The queue of the library by its name, for work on its jobs. */
  named(name: string): Promise<Queue>;
}

/** Queues of a process that may never add a job: the first use loads the job library. */
export class LazyQueues implements JobQueues {
  readonly #redisUrl: string;
  readonly #log: Logger;
  readonly #notes: JobNotes;
  #loaded: Promise<Queues> | null = null;
  #isClosed = false;

  constructor(redisUrl: string, log: Logger, notes: JobNotes) {
    this.#redisUrl = redisUrl;
    this.#log = log;
    this.#notes = notes;
  }

  async enqueue<P extends TObject>(
    definition: QueueDefinition<P>,
    payload: Static<P>,
    origin: Origin,
  ): Promise<string> {
    return (await this.#load()).enqueue(definition, payload, origin);
  }

  async enqueueAndWait<P extends TObject>(
    definition: QueueDefinition<P>,
    payload: Static<P>,
    origin: Origin,
    timeoutMs: number,
  ): Promise<boolean> {
    return (await this.#load()).enqueueAndWait(definition, payload, origin, timeoutMs);
  }

  async schedule<P extends TObject>(
    definition: QueueDefinition<P>,
    payload: Static<P>,
    everyMs: number,
  ): Promise<void> {
    return (await this.#load()).schedule(definition, payload, everyMs);
  }

  async named(name: string): Promise<Queue> {
    const queue = (await this.#load()).all().find((each) => each.name === name);
    if (queue === undefined) throw new Error(`no queue ${name}`);
    return queue;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await (await this.#loaded)?.close();
  }

  #load(): Promise<Queues> {
    if (this.#isClosed) return Promise.reject(new Error("the queues are closed"));
    this.#loaded ??= import("./producer.ts").then(({ createQueues }) =>
      createQueues(this.#redisUrl, this.#log, this.#notes),
    );
    return this.#loaded;
  }
}
