/**
 * A process that misses this many pulses in a row is frozen. One that responds late is busy, and killing it
 * would only move its work to others that are equally busy.
 */
const maxMissedPulses = 5;
export const pulseMs = 2_000;

/** Detects that a process is frozen; `check` is called every `pulseMs`. */
export class FrozenDetector {
  readonly #askPulse: (timeoutMs: number) => Promise<unknown>;
  readonly #onFrozen: () => void;
  /** Pulses since the last response. */
  #missed = 0;

  constructor(askPulse: (timeoutMs: number) => Promise<unknown>, onFrozen: () => void) {
    this.#askPulse = askPulse;
    this.#onFrozen = onFrozen;
  }

  check(): void {
    if (this.#missed >= maxMissedPulses) return this.#onFrozen();
    this.#missed += 1;
    void this.#askPulse(maxMissedPulses * pulseMs).then((isAlive) => {
      if (isAlive === true) this.#missed = 0;
    });
  }
}
