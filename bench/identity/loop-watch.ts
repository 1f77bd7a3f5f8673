import { readFileSync, renameSync, writeFileSync } from "node:fs";

/**
 * Loaded into the service's processes by `NODE_OPTIONS`: measures stalls of an HTTP worker's event loop.
 * `SIGUSR2` makes it write the result to `BENCH_LOOP_FILE` and start over.
 */
export interface Stall {
  /** Longest time between two turns. */
  longestMs: number;
  /** Longest computation of the thread without a turn in between; waiting for a core does not count. */
  longestOwnMs: number;
}

const file = process.env["BENCH_LOOP_FILE"];
const tickMs = 1;

/** CPU time of this thread in milliseconds. Linux only. */
const ownMs = (): number =>
  Number(readFileSync("/proc/self/schedstat", "utf8").split(" ")[0]) / 1e6;

if (file !== undefined && process.argv[2] === "http") {
  let seen: Stall = { longestMs: 0, longestOwnMs: 0 };
  let at = performance.now();
  let own = ownMs();
  setInterval(() => {
    const now = performance.now();
    const ownNow = ownMs();
    seen.longestMs = Math.max(seen.longestMs, now - at - tickMs);
    seen.longestOwnMs = Math.max(seen.longestOwnMs, ownNow - own);
    at = now;
    own = ownNow;
  }, tickMs).unref();
  process.on("SIGUSR2", () => {
    writeFileSync(`${file}.new`, JSON.stringify(seen));
    renameSync(`${file}.new`, file);
    seen = { longestMs: 0, longestOwnMs: 0 };
  });
}
