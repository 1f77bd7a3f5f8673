const firstPauseMs = 100;
const maxPauseMs = 10_000;
/** A start takes a core for a second, and the others need it first to take over what the dead process had. */
const takeoverMs = 500;
/** A process that lived this long has earned a quick restart again. */
const stableMs = 10_000;
const maxStartFailures = 3;

/** Exponential backoff between the restarts of one process. */
export class RestartPolicy {
  /** Exits in a row without a stable life between them. */
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

  /** It was never ready, in several tries. */
  get doesNotStart(): boolean {
    return !this.#hasServed && this.#failures >= maxStartFailures;
  }

  /** `hasOthers`: other processes do its work meanwhile. */
  pauseMs(hasOthers: boolean): number {
    return restartPauseMs(this.#failures, hasOthers);
  }
}

export function restartPauseMs(failures: number, hasOthers: boolean): number {
  const pause = Math.min(firstPauseMs * 2 ** (failures - 1), maxPauseMs);
  return hasOthers ? Math.max(pause, takeoverMs) : pause;
}
