import { createRandom } from "../../test/support/random.ts";

/** How many arrivals per second, and when. Only `closed` waits for answers: its users act one after another. */
export type Load =
  | { shape: "poisson" | "constant"; perSecond: number; seconds: number }
  /** The rate rises or falls evenly. */
  | { shape: "ramp"; from: number; to: number; seconds: number }
  /** Each rate lasts an equal part of the time. */
  | { shape: "steps"; perSecond: readonly number[]; seconds: number }
  /** The middle fifth of the time has the rate `peak`. */
  | { shape: "spike"; perSecond: number; peak: number; seconds: number }
  | { shape: "closed"; users: number; seconds: number };

export type OpenLoad = Exclude<Load, { shape: "closed" }>;

export const shapes = ["poisson", "constant", "ramp", "steps", "spike", "closed"] as const;

/** An arrival to start: its number in the whole run and its intended time after the start. */
export interface Intended {
  n: number;
  atMs: number;
}

/** A part of the run in which the rate changes evenly from `from` to `to`. */
interface Segment {
  seconds: number;
  from: number;
  to: number;
}

function segmentsOf(load: OpenLoad): Segment[] {
  const { seconds } = load;
  const flat = (perSecond: number, share: number): Segment => ({
    seconds: seconds * share,
    from: perSecond,
    to: perSecond,
  });
  switch (load.shape) {
    case "poisson":
    case "constant":
      return [flat(load.perSecond, 1)];
    case "ramp":
      return [{ seconds, from: load.from, to: load.to }];
    case "steps":
      return load.perSecond.map((rate) => flat(rate, 1 / load.perSecond.length));
    case "spike":
      return [flat(load.perSecond, 0.4), flat(load.peak, 0.2), flat(load.perSecond, 0.4)];
    default:
      return load satisfies never;
  }
}

/** Highest rate of a load; a closed one has none. */
export const peakOf = (load: Load): number =>
  load.shape === "closed"
    ? Infinity
    : Math.max(...segmentsOf(load).flatMap(({ from, to }) => [from, to]));

/** Arrivals that an open load intends, on average. */
export const plannedArrivals = (load: OpenLoad): number =>
  segmentsOf(load).reduce((sum, { seconds, from, to }) => sum + (seconds * (from + to)) / 2, 0);

/**
 * The arrivals of an open load. Unit-rate gaps, exponential except for `constant`, are stretched by the rate, so that
 * every shape is a Poisson process whose intensity follows it. The same seed gives the same times.
 */
export function* intendedArrivals(load: OpenLoad, seed: number): Generator<Intended> {
  const random = createRandom(seed);
  const gap = () => (load.shape === "constant" ? 1 : -Math.log(1 - random()));
  let n = 0;
  /** Arrivals still to pass until the next one. */
  let left = load.shape === "constant" ? 0 : gap();
  let startS = 0;
  for (const { seconds, from, to } of segmentsOf(load)) {
    const slope = (to - from) / seconds;
    for (let atS = 0; ; left = gap()) {
      const rate = from + slope * atS;
      const stepS = secondsUntil(left, rate, slope);
      if (!(atS + stepS < seconds)) {
        left -= (seconds - atS) * (rate + (slope * (seconds - atS)) / 2);
        break;
      }
      atS += stepS;
      yield { n: n++, atMs: (startS + atS) * 1000 };
    }
    startS += seconds;
  }
}

/** Time until `count` arrivals have passed at a rate that changes by `slope` per second; Infinity: never. */
function secondsUntil(count: number, rate: number, slope: number): number {
  if (Math.abs(slope) < 1e-9) return rate > 0 ? count / rate : count > 0 ? Infinity : 0;
  const root = rate * rate + 2 * slope * count;
  return root < 0 ? Infinity : (Math.sqrt(root) - rate) / slope;
}

/** "poisson 500/s for 60 s". */
export const describeLoad = (load: Load): string =>
  `${load.shape} ${describeRate(load)} for ${load.seconds} s`;

function describeRate(load: Load): string {
  switch (load.shape) {
    case "closed":
      return `${load.users} users`;
    case "ramp":
      return `${load.from}/s to ${load.to}/s`;
    case "steps":
      return load.perSecond.map((rate) => `${rate}/s`).join(", ");
    case "spike":
      return `${load.perSecond}/s with ${load.peak}/s in the middle fifth`;
    default:
      return `${load.perSecond}/s`;
  }
}
