/** Samples that count; the clock may have been set since older ones. */
const maxSamples = 12;

interface Sample {
  offsetMs: number;
  roundTripMs: number;
}

/** How far the clock of this machine is ahead of that of Redis. Each renewal of the lease is a sample. */
export class ClockOffset {
  #samples: Sample[] = [];

  /** Times in milliseconds since 1970: before the request and after its answer here, and between both at Redis. */
  add(before: number, atRedis: number, after: number): void {
    const offsetMs = Math.round((before + after) / 2 - atRedis);
    this.#samples = [...this.#samples, { offsetMs, roundTripMs: after - before }].slice(
      -maxSamples,
    );
  }

  /** By the sample with the shortest round trip, which is the most exact; 0 before the first. */
  get ms(): number {
    const byRoundTrip = this.#samples.toSorted((a, b) => a.roundTripMs - b.roundTripMs);
    return byRoundTrip[0]?.offsetMs ?? 0;
  }
}
