const firstPauseMs = 100;
const maxPauseMs = 10_000;
/** A start takes one core for a second; the other processes first need it to take over from the dead one. */
const takeoverMs = 500;
/** A process that ran this long is restarted quickly again. */
const stableMs = 10_000;
const maxStartFailures = 3;

/** Exponential backoff between the restarts of one process. */
export class RestartPolicy {
  /** Consecutive exits without a stable run in between. */
  #failures = 0;
  #hasServed = false;

  /** The process was ready. */
  served(): void {
    this.#hasServed = true;
  }

  exited(livedMs: number): void {
    const isStable = this.#hasServed && livedMs >= stableMs;
    this.#failures = isStable ? 1 : this.#failures + 1;
  }

  /** True after several attempts that were never ready. */
  get doesNotStart(): boolean {
    return !this.#hasServed && this.#failures >= maxStartFailures;
  }

  /** `hasOthers`: other processes do its work in the meantime. */
  pauseMs(hasOthers: boolean): number {
    return restartPauseMs(this.#failures, hasOthers);
  }
}

export function restartPauseMs(failures: number, hasOthers: boolean): number {
  const pause = Math.min(firstPauseMs * 2 ** (failures - 1), maxPauseMs);
  return hasOthers ? Math.max(pause, takeoverMs) : pause;
}
