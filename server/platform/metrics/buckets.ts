/**
 * Upper bounds in seconds of whatever should take milliseconds: requests, commands, commits, deliveries. Between 10
 * and 50 ms they are close enough to tell quantiles apart.
 */
export const shortBuckets = [
  0.0005, 0.001, 0.002, 0.005, 0.01, 0.015, 0.025, 0.035, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5,
];

/** From a mail that is sent at once to an import, in seconds. */
export const jobBuckets = [0.005, 0.025, 0.1, 0.5, 1, 5, 15, 60, 180, 600];
