/** Steps of a stop, in their order. */
export type StopStep = "http" | "jobs" | "operator" | "lines" | "redis" | "postgres" | "log";

/**
 * The part of the time after the delay by whose end a step is over. A step that ends early leaves its time to the
 * next one; each has some left even if all steps before it are cut off.
 */
const ends: Record<StopStep, number> = {
  http: 0.55,
  jobs: 0.75,
  operator: 0.8,
  lines: 0.84,
  redis: 0.9,
  postgres: 0.96,
  log: 1,
};

export interface StopTimes {
  /** From the signal on, during which everything is still served. */
  delayMs: number;
  /** From the signal to the end. */
  timeoutMs: number;
}

/** The limits of the steps of a stop, all within SHUTDOWN_TIMEOUT_SECONDS (BOOT-10). */
export class StopBudget {
  readonly #times: StopTimes;
  readonly #now: () => number;
  #startedAt: number | null = null;

  constructor(times: StopTimes, now: () => number = () => performance.now()) {
    this.#times = times;
    this.#now = now;
  }

  /** At the signal; a start that fails begins it with its first step. */
  begin(): void {
    this.#startedAt ??= this.#now();
  }

  leftMs(step: StopStep): number {
    this.begin();
    const { delayMs, timeoutMs } = this.#times;
    const end = (this.#startedAt ?? 0) + delayMs + (timeoutMs - delayMs) * ends[step];
    return Math.max(0, end - this.#now());
  }
}
