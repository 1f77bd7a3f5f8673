import { readFileSync, renameSync, writeFileSync } from "node:fs";

/**
 * Loaded into the processes of the service by `NODE_OPTIONS`: notes how long the event loop of an HTTP
 * worker stood still. `SIGUSR2` makes it write what it saw into `BENCH_LOOP_FILE` and begin anew.
 */
export interface Standstill {
  /** Longest time between two turns. */
  longestMs: number;
  /** Longest time the thread computed without a turn in between: what waits for a core is not in it. */
  longestOwnMs: number;
}

const file = process.env["BENCH_LOOP_FILE"];
const tickMs = 1;

/** Milliseconds this thread has computed so far. Linux only. */
const ownMs = (): number =>
  Number(readFileSync("/proc/self/schedstat", "utf8").split(" ")[0]) / 1e6;

if (file !== undefined && process.argv[2] === "http") {
  let seen: Standstill = { longestMs: 0, longestOwnMs: 0 };
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
