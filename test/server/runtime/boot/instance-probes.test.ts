import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  probeAnswers,
  type InstanceSigns,
} from "../../../../server/runtime/boot/instance-probes.ts";

const now = 1_000_000;
const serving = { isReady: true, answeredAt: now - 1_999 };
const draining = { isReady: false, answeredAt: now - 100 };
const silent = { isReady: true, answeredAt: now - 5_000 };
const frozen = { isReady: true, answeredAt: now - 15_000 };
const unborn = { isReady: false, answeredAt: 0 };
const restarting = { isReady: false, answeredAt: now - 14_999 };

const well: InstanceSigns = {
  now,
  isStopping: false,
  isDraining: false,
  workers: [serving, serving],
  reachedAt: { postgres: now - 2_000, redis: now - 2_000 },
  storeLimitMs: 30_000,
};
const reached = (postgres: number | null, redis: number | null) => ({ postgres, redis });

/** state, what it differs in, and the answers to /live and /ready. */
const states: [string, Partial<InstanceSigns>, live: string, ready: string][] = [
  ["everything works", {}, "200 live", "200 ready"],
  ["no worker is ready yet", { workers: [unborn] }, "200 live", "503 starting"],
  [
    "the stores have not been reached",
    { reachedAt: reached(null, now) },
    "200 live",
    "503 starting",
  ],
  ["one of two workers has started", { workers: [serving, unborn] }, "200 live", "200 ready"],
  ["a worker drains", { workers: [serving, draining] }, "200 live", "200 ready"],
  ["a worker restarts", { workers: [restarting, serving] }, "200 live", "200 ready"],
  ["a worker is frozen", { workers: [frozen, serving] }, "200 live", "200 ready"],
  ["the only worker restarts", { workers: [restarting] }, "200 live", "503 no-worker"],
  ["all workers are silent", { workers: [silent, silent] }, "200 live", "503 no-worker"],
  ["all workers are frozen", { workers: [frozen, frozen] }, "503 stalled", "503 no-worker"],
  ["Postgres blinks", { reachedAt: reached(now - 29_999, now) }, "200 live", "200 ready"],
  ["Postgres is away", { reachedAt: reached(now - 30_000, now) }, "200 live", "503 no-postgres"],
  ["Redis is away", { reachedAt: reached(now, now - 30_000) }, "200 live", "503 no-redis"],
  [
    "a store is away, which never counts",
    { reachedAt: reached(1, 1), storeLimitMs: 0 },
    "200 live",
    "200 ready",
  ],
  ["its last worker will drain", { isDraining: true }, "200 live", "503 draining"],
  [
    "its last worker drains, and another instance has its rooms",
    { isDraining: true, workers: [draining] },
    "200 live",
    "503 draining",
  ],
  ["it stops", { isStopping: true }, "200 live", "503 stopping"],
  [
    "it stops with frozen workers",
    { isStopping: true, workers: [frozen] },
    "200 live",
    "503 stopping",
  ],
];

describe("the probes of an instance", () => {
  for (const [state, signs, live, ready] of states)
    it(`answer ${live} and ${ready} when ${state}`, () => {
      const found = Object.values(probeAnswers({ ...well, ...signs }));
      assert.deepEqual(
        found.map(({ status, word }) => `${status} ${word}`),
        [live, ready],
      );
    });
});
