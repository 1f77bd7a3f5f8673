import type { Instance } from "../../platform/instance.ts";
import type { Logger } from "../../platform/log/logger.ts";
import type { ProcessEvent } from "../../platform/process-event.ts";
import type { Clock } from "../../platform/time/clock.ts";

/** Events that wait for a process with Postgres; further ones are dropped and counted. */
export const maxWaitingEvents = 200;
/** Events handed over at once. */
const batchSize = 50;
const usualRetryMs = 5_000;

export type NewProcessEvent = Omit<ProcessEvent, "key" | "atMs" | "service">;

export interface ProcessEventLogOptions {
  /** The primary. */
  instance: Instance;
  clock: Clock;
  log: Logger;
  /** Hands events to a process that stores them; false if none did. */
  store: (events: readonly ProcessEvent[]) => Promise<boolean>;
  /** Milliseconds until the next attempt; for tests. */
  retryMs?: number;
}

/**
 * The events of all processes of a service, until one of them has stored them: the primary has no Postgres. Nothing
 * waits for this, and an event that is handed over twice is stored once.
 */
export class ProcessEventLog {
  readonly #options: ProcessEventLogOptions;
  readonly #waiting: ProcessEvent[] = [];
  #numDropped = 0;
  #lastNumber = 0;
  #timer: NodeJS.Timeout | null = null;
  #isSending = false;

  constructor(options: ProcessEventLogOptions) {
    this.#options = options;
  }

  record(event: NewProcessEvent): void {
    if (this.#waiting.length >= maxWaitingEvents) {
      this.#numDropped += 1;
      return;
    }
    this.#waiting.push(this.#complete(event));
    this.flush();
  }

  /** Call it too when a process becomes ready. */
  flush(): void {
    if (!this.#isSending) void this.#send();
  }

  #complete(event: NewProcessEvent): ProcessEvent {
    const { instance, clock } = this.#options;
    this.#lastNumber += 1;
    const key = `${instance.id}-${this.#lastNumber}`;
    return { ...event, key, atMs: clock.now(), service: instance.id };
  }

  async #send(): Promise<void> {
    const { store, retryMs = usualRetryMs } = this.#options;
    this.#isSending = true;
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    try {
      while (this.#waiting.length > 0) {
        const batch = this.#waiting.slice(0, batchSize);
        if (!(await store(batch))) break;
        this.#waiting.splice(0, batch.length);
        this.#noteDropped();
      }
    } finally {
      this.#isSending = false;
    }
    if (this.#waiting.length > 0) this.#timer = setTimeout(() => this.flush(), retryMs).unref();
  }

  #noteDropped(): void {
    if (this.#numDropped === 0) return;
    const { log, instance } = this.#options;
    const count = this.#numDropped;
    this.#numDropped = 0;
    log.warn(
      { event: "process_events_dropped", count },
      "events of processes not stored, they are in the log only",
    );
    const { role, index, version, build } = instance;
    const about = { role, index, version, build, pid: process.pid, instance: null };
    this.#waiting.push(this.#complete({ ...about, kind: "dropped", detail: { count } }));
  }
}
