import assert from "node:assert/strict";
import { test } from "node:test";
import { AppError } from "../../../server/platform/errors.ts";
import { systemClock } from "../../../server/platform/time/clock.ts";
import { createMetrics } from "../../../server/platform/metrics/metrics.ts";
import { reportMetrics } from "../../../server/platform/metrics/report.ts";
import {
  createDashboard,
  totalled,
  totalsOf,
  type Totals,
} from "../../../server/operator/overview/dashboard.ts";
import { overviewRoutes, type OverviewDeps } from "../../../server/operator/overview/routes.ts";
import { answerOf } from "./call-route.ts";
import { readHealth } from "../../../server/operator/health/health.ts";
import type { StoreStates } from "../../../server/operator/health/stores.ts";
import type { ProcessInfo } from "../../../server/runtime/ipc.ts";

const nothing: Totals = { requests: 0, failures: 0, commands: 0, rooms: 0, streams: 0 };
const process: ProcessInfo = {
  role: "http",
  index: 0,
  pid: 7,
  isReady: true,
  isDraining: false,
  restarts: 0,
  startedAt: 0,
  nodeId: null,
  instance: null,
};

function setUp() {
  const state = {
    now: 0,
    totals: nothing,
    isReady: true,
    stores: { postgres: "ok", redis: "ok" } as StoreStates,
    pictures: 0 as number | null,
  };
  const dashboard = createDashboard(
    { totals: async () => state.totals, waitingPictures: async () => state.pictures },
    () => state.now,
  );
  const sources = {
    processes: async () => [{ ...process, isReady: state.isReady }],
    stores: async () => state.stores,
    moderators: async () => [],
    fleetProblems: async () => [],
  };
  const view = async (seconds: number, totals: Partial<Totals> = {}) => {
    state.now = seconds * 1000;
    state.totals = { ...nothing, ...totals };
    const stats = await dashboard(readHealth(sources));
    return Object.fromEntries(stats.map(({ name, value, isBad }) => [name, [value, isBad]]));
  };
  return { state, view };
}

test("the first view shows totals, and later views show rates since an earlier view", async () => {
  const { view } = setUp();
  assert.deepEqual((await view(100, { requests: 900 }))["Requests"], [
    "900 since the start",
    false,
  ]);
  const later = await view(110, { requests: 950, streams: 3 });
  assert.deepEqual(later["Requests"], ["5.0 per second", false]);
  assert.deepEqual(later["Event streams"], ["3", false]);
  // A second reader a moment later: the rate is still the average of ten seconds.
  const next = await view(111, { requests: 961 });
  assert.deepEqual(next["Requests"], ["5.5 per second", false]);
});

test("a rate is never computed over a long gap, and is never negative after a restart", async () => {
  const { view } = setUp();
  await view(0, { requests: 100 });
  assert.deepEqual((await view(10, { requests: 20 }))["Requests"], ["0.0 per second", false]);
  assert.deepEqual((await view(1000, { requests: 70 }))["Requests"], ["70 since the start", false]);
});

test("values that need attention are marked", async () => {
  const { state, view } = setUp();
  await view(0, { failures: 2 });
  const name = "Responses with status 500 or above";
  assert.deepEqual((await view(10, { failures: 2 }))[name], ["0.0 per second", false]);
  assert.deepEqual((await view(20, { failures: 4 }))[name], ["0.2 per second", true]);
  state.isReady = false;
  state.stores = { postgres: "read_only", redis: "away" };
  assert.deepEqual((await view(30))["Service"], [
    "not ready; redis does not respond; postgres refuses writes; starting processes: 1",
    true,
  ]);
});

test("pending pictures are counted up to a limit", async () => {
  const { state, view } = setUp();
  for (const [pictures, value] of [
    [3, "3"],
    [1_000, "1000 or more"],
    [null, "unknown"],
  ] as const) {
    state.pictures = pictures;
    assert.deepEqual((await view(0))["Pictures to review"], [value, false]);
  }
});

test("the totals are those of the metrics, for rooms of every kind", async () => {
  const metrics = createMetrics();
  for (const status of ["200", "404", "503"])
    metrics.requests.inc({ route: "/", method: "GET", status }, 5);
  metrics.rooms("lobby").command("pick", "ok").inc(4);
  metrics.rooms("lobby").inMemory.set(3);
  metrics.rooms("counter").command("count", "ok").inc(2);
  metrics.rooms("counter").inMemory.set(1);
  metrics.hubStreams.inc({ topic: "lobby" }, 2);
  for (const names of [totalled, undefined]) {
    const report = await reportMetrics(metrics.registry, names);
    const expected = { requests: 15, failures: 5, commands: 6, rooms: 4, streams: 2 };
    assert.deepEqual(totalsOf(report.metrics), expected);
  }
  const named = await reportMetrics(metrics.registry, totalled);
  assert.deepEqual(named.metrics.map(({ name }) => name).sort(), [...totalled].sort());
});

test("the start page loads in time while Redis and Postgres do not respond, and says so", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const never = () => new Promise<never>(() => {});
  const deps: OverviewDeps = {
    processes: async () => [process],
    stores: async () => ({ redis: "away", postgres: "away" }),
    moderators: async () => [],
    fleetProblems: async () => [],
    jobs: { queues: never },
    // It has its own limits.
    failures: { list: () => Promise.reject(new AppError("failure:store_unavailable")) },
    jobTimes: { lastHour: never },
    processEvents: { since: never },
    stats: async () => [],
    maintenance: { read: never },
    clock: systemClock,
  };
  const headers = { accept: "text/html" };
  const shown = answerOf(overviewRoutes, deps, "/operator", { role: "viewer", headers });
  t.mock.timers.tick(1_500);
  const { status, text } = await shown;
  assert.equal(status, 200);
  assert.match(text, /<h2>Wrong now<.*redis does not respond.*postgres does not respond/s);
  for (const what of ["Jobs", "Failures", "Events of processes"])
    assert.ok(text.includes(`${what} are unknown`), what);
  assert.match(text, /<h2>Queues<.*unknown/s);
});
