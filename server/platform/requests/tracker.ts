import { BatchWriter, type BatchHead } from "../batch-writer.ts";
import { nameOfInstance, type Instance } from "../instance.ts";
import type { Logger } from "../log/logger.ts";
import type { Origin } from "../origin.ts";
import type { Clock } from "../time/clock.ts";
import type { RequestEntry } from "./entries.ts";

/** A request that has ended, as it is kept. */
export interface EndedRequest {
  id: string;
  method: string;
  /** Pattern of the route, never the path (S27). */
  route: string;
  status: number;
  /** Code of the refusal. */
  code: string | null;
  ms: number;
  playerId: number | null;
  room: string | null;
}

export interface QueuedJob {
  queue: string;
  id: string;
}

/** Keeps the requests that somebody may ask for by their id, and what belongs to them (OPS-31). */
export interface RequestTracker {
  /** Neither throws nor waits, as the others. */
  keep(request: EndedRequest): void;
  /** True if this origin queued a job or wrote a message in this process. */
  hasWork(origin: Origin): boolean;
  noteJob(origin: Origin, job: QueuedJob): void;
  noteMessage(origin: Origin): void;
  /** A failure of the work of a request belongs to a group. */
  noteFault(requestId: string, groupId: string): void;
}

/** For programs without a store of requests. */
export const noRequests: RequestTracker = {
  keep: () => undefined,
  hasWork: () => false,
  noteJob: () => undefined,
  noteMessage: () => undefined,
  noteFault: () => undefined,
};

export interface RequestBatch extends BatchHead {
  entries: RequestEntry[];
}

export interface RequestBatchStore {
  write(batch: RequestBatch): Promise<void>;
}

export interface TrackerOptions {
  store: RequestBatchStore;
  instance: Instance;
  clock: Clock;
  log: Logger;
  /** Milliseconds between two batches; for tests. */
  everyMs?: number;
}

/** Writes the requests of a process in batches. */
export class BatchingRequestTracker implements RequestTracker {
  readonly #clock: Clock;
  readonly #process: string;
  readonly #writer: BatchWriter<RequestEntry, Pick<RequestBatch, "entries">>;
  /** Origins of this process that queued work. A request has one, so its end finds it here. */
  readonly #working = new WeakSet<Origin>();

  constructor({ store, instance, clock, log, everyMs }: TrackerOptions) {
    this.#clock = clock;
    this.#process = nameOfInstance(instance);
    this.#writer = new BatchWriter({
      name: "request",
      instance: instance.id,
      log,
      everyMs,
      bodyOf: (entries) => ({ entries }),
      write: (batch) => store.write(batch),
    });
  }

  hasWork(origin: Origin): boolean {
    return this.#working.has(origin);
  }

  keep(request: EndedRequest): void {
    const { id, method, route, status, code, ms, playerId, room } = request;
    this.#add({
      kind: "request",
      id,
      facts: [method, route, status, code, Math.round(ms), playerId, room, this.#process],
    });
  }

  noteJob(origin: Origin, { queue, id }: QueuedJob): void {
    if (origin.requestId === null) return;
    this.#working.add(origin);
    this.#add({ kind: "job", id: origin.requestId, facts: [queue, id] });
  }

  noteMessage(origin: Origin): void {
    if (origin.requestId !== null) this.#working.add(origin);
  }

  noteFault(requestId: string, groupId: string): void {
    this.#add({ kind: "fault", id: requestId, facts: [groupId] });
  }

  flush(): Promise<void> {
    return this.#writer.flush();
  }

  stop(): Promise<void> {
    return this.#writer.stop();
  }

  #add(entry: Omit<RequestEntry, "atMs">): void {
    this.#writer.add({ ...entry, atMs: this.#clock.now() });
  }
}
