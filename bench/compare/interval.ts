import { mean, probit, sampleVariance } from "simple-statistics";

/** A mean of logarithms of ratios, with the uncertainty of its measurement. */
export interface Estimate {
  /** Logarithm of the ratio after / before. */
  log: number;
  standardError: number;
  degreesOfFreedom: number;
}

/** A ratio after / before, and the ends of its confidence interval. */
export interface Interval {
  ratio: number;
  low: number;
  high: number;
}

/** Outcome of one figure, of which more is worse. */
export type Outcome = "faster" | "slower" | "no difference" | "too noisy";

/** Both sides of each round ran one after the other, so what changes slowly cancels out of their ratio. */
export function pairedEstimate(
  pairs: readonly (readonly [before: number, after: number])[],
): Estimate {
  const logs = pairs.map(([before, after]) => Math.log(after / before));
  return {
    log: mean(logs),
    standardError: Math.sqrt(sampleVariance(logs) / logs.length),
    degreesOfFreedom: logs.length - 1,
  };
}

/** Two independent samples with variances of their own (Welch). `spread`: standard error that the samples cannot show. */
export function separateEstimate(
  before: readonly number[],
  after: readonly number[],
  spread: number,
): Estimate {
  const [a, b] = [before.map(Math.log), after.map(Math.log)] as const;
  const [va, vb] = [sampleVariance(a) / a.length, sampleVariance(b) / b.length];
  const within = va + vb;
  return {
    log: mean(b) - mean(a),
    standardError: Math.sqrt(within + spread ** 2),
    degreesOfFreedom:
      within === 0
        ? a.length + b.length - 2
        : within ** 2 / (va ** 2 / (a.length - 1) + vb ** 2 / (b.length - 1)),
  };
}

/** `confidence`: 0.95 for an interval that misses the true ratio in 1 of 20 cases. */
export function intervalOf(estimate: Estimate, confidence: number): Interval {
  const { log, standardError, degreesOfFreedom } = estimate;
  const half = studentQuantile((1 + confidence) / 2, degreesOfFreedom) * standardError;
  return { ratio: Math.exp(log), low: Math.exp(log - half), high: Math.exp(log + half) };
}

/**
 * What an interval proves. `tolerance`: a difference up to this share does not matter (0.1: up to 10 %). An interval that
 * reaches beyond it and contains 1 proves nothing.
 */
export function outcomeOf({ low, high }: Interval, tolerance: number): Outcome {
  if (low >= 1 / (1 + tolerance) && high <= 1 + tolerance) return "no difference";
  if (low > 1) return "slower";
  return high < 1 ? "faster" : "too noisy";
}

/** The smallest difference that an interval of this width excludes: 0.25 for 25 %. */
export const smallestVisible = ({ ratio, low, high }: Interval): number =>
  Math.max(high / ratio, ratio / low) - 1;

/** Quantile of Student's t distribution by the expansion of Cornish and Fisher; within 2 % from 3 degrees of freedom on. */
export function studentQuantile(share: number, degreesOfFreedom: number): number {
  const z = probit(share);
  const terms = [
    (z ** 3 + z) / 4,
    (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96,
    (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384,
    (79 * z ** 9 + 776 * z ** 7 + 1482 * z ** 5 - 1920 * z ** 3 - 945 * z) / 92_160,
  ];
  return terms.reduce((sum, term, n) => sum + term / degreesOfFreedom ** (n + 1), z);
}
