/** Latency counts in steps of 0.1 ms up to 20 s; counts of several processes can be added. */
export class Latencies {
  readonly #counts = new Uint32Array(200_000);
  total = 0;

  add(micros: number): void {
    const step = Math.min(this.#counts.length - 1, Math.max(0, Math.floor(micros / 100)));
    this.#counts[step] = (this.#counts[step] ?? 0) + 1;
    this.total += 1;
  }

  clear(): void {
    this.#counts.fill(0);
    this.total = 0;
  }

  /** The non-empty steps, for another process. */
  pack(): [step: number, count: number][] {
    const packed: [number, number][] = [];
    this.#counts.forEach((count, step) => {
      if (count > 0) packed.push([step, count]);
    });
    return packed;
  }

  addPacked(packed: [step: number, count: number][]): void {
    for (const [step, count] of packed) {
      this.#counts[step] = (this.#counts[step] ?? 0) + count;
      this.total += count;
    }
  }

  /** The quantile `share`, in milliseconds. */
  at(share: number): number {
    let left = Math.max(1, this.total * share);
    for (let step = 0; step < this.#counts.length; step++) {
      left -= this.#counts[step] ?? 0;
      if (left <= 0) return (step + 1) / 10;
    }
    return 0;
  }
}
