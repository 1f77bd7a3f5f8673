import type { Clock } from "../server/platform/time/clock.ts";
import type { Cancel, Timing } from "./timing.ts";

const sweepMs = 100;
/** Until a room is ticked again after a failure of the store. */
export const retryMs = 500;

/** Fires the deadlines of rooms, by the wall clock, which may jump. */
export class Ticker {
  readonly #clock: Clock;
  readonly #timing: Timing;
  readonly #fire: (code: string) => void;
  readonly #armed = new Map<string, number>();
  /** Stopped while no deadline is armed, so that an idle process is not woken. */
  #stopSweeps: Cancel | null = null;
  #isStopped = false;

  constructor(clock: Clock, timing: Timing, fire: (code: string) => void) {
    this.#clock = clock;
    this.#timing = timing;
    this.#fire = fire;
  }

  /** Sets the deadline of a room. */
  arm(code: string, due: number): void {
    this.#armed.set(code, due);
    if (!this.#isStopped) this.#stopSweeps ??= this.#timing.every(sweepMs, () => this.#sweep());
  }

  stop(): void {
    this.#isStopped = true;
    this.#pause();
  }

  #pause(): void {
    this.#stopSweeps?.();
    this.#stopSweeps = null;
  }

  #sweep(): void {
    const now = this.#clock.now();
    const due: string[] = [];
    for (const [code, at] of this.#armed) if (at <= now) due.push(code);
    for (const code of due) this.#armed.delete(code);
    if (this.#armed.size === 0) this.#pause();
    for (const code of due) this.#fire(code);
  }
}
