import {
  Counter,
  Histogram,
  type CounterConfiguration,
  type HistogramConfiguration,
} from "prom-client";

/** One series of a tally: a number to add to. */
export interface Cell {
  n: number;
}

/**
 * A counter for what happens with every request. The library looks its labels up at each step, which
 * is felt there; here a step is an addition, and the library learns of the sum when somebody reads it.
 */
export class Tally<L extends string> extends Counter<L> {
  private readonly cells: (Cell & { labels: Record<L, string> })[] = [];

  constructor(options: CounterConfiguration<L>) {
    super({
      ...options,
      collect() {
        (this as Tally<L>).report();
      },
    });
  }

  /** The series of these labels; to be asked for once and kept. */
  cell(labels: Record<L, string>): Cell {
    const cell = { labels, n: 0 };
    this.cells.push(cell);
    return cell;
  }

  private report(): void {
    for (const cell of this.cells) {
      if (cell.n > 0) this.inc(cell.labels, cell.n);
      cell.n = 0;
    }
  }
}

interface Series<L extends string> {
  labels: Record<L, string>;
  /** Observations per bound, the last for those above all bounds. */
  counts: number[];
  sum: number;
}

/** A histogram for what happens with every request: an observation is one comparison per bound. */
export class TallyHistogram<L extends string> extends Histogram<L> {
  private readonly bounds: number[];
  private readonly series: Series<L>[] = [];
  private readonly facts: { name: string; help: string };

  constructor(options: HistogramConfiguration<L> & { buckets: number[] }) {
    super(options);
    this.bounds = options.buckets;
    this.facts = { name: options.name, help: options.help };
  }

  /** Takes observations of these labels; to be asked for once and kept. */
  observer(labels: Record<L, string>): (value: number) => void {
    const { bounds } = this;
    const one: Series<L> = { labels, counts: [...bounds.map(() => 0), 0], sum: 0 };
    this.series.push(one);
    return (value) => {
      let at = 0;
      while (at < bounds.length && value > (bounds[at] ?? 0)) at += 1;
      one.counts[at] = (one.counts[at] ?? 0) + 1;
      one.sum += value;
    };
  }

  override get(): ReturnType<Histogram<L>["get"]> {
    const { name } = this.facts;
    // As the library has it: a series with labels begins with its first observation.
    const begun = this.series.filter(
      ({ labels, counts }) => Object.keys(labels).length === 0 || counts.some((n) => n > 0),
    );
    const values = begun.flatMap(({ labels, counts, sum }) => {
      let total = 0;
      const buckets = counts.map((count, i) => {
        total += count;
        return { labels: { le: this.bounds[i] ?? "+Inf", ...labels }, value: total };
      });
      return [
        ...buckets.map((bucket) => ({ ...bucket, metricName: `${name}_bucket` })),
        { labels, value: sum, metricName: `${name}_sum` },
        { labels, value: total, metricName: `${name}_count` },
      ];
    });
    const metric = { ...this.facts, type: "histogram", values, aggregator: "sum" };
    return Promise.resolve(metric as unknown as Awaited<ReturnType<Histogram<L>["get"]>>);
  }

  /** What the registry calls when it writes text. */
  getForPromString(): ReturnType<Histogram<L>["get"]> {
    return this.get();
  }
}
