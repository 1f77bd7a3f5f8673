import { Times } from "../../bench/load/histogram.ts";
import type { ProcessResult, Second } from "../../bench/load/record.ts";
import type { Measured } from "../../bench/report/build.ts";

function timesOf(count: number, ms: number): string {
  const times = new Times();
  for (let n = 0; n < count; n++) times.record(ms);
  return times.encode();
}

/** A second of 100 reads that take 20 ms. */
export const second = (at: number, change: Partial<Second> = {}): Second => ({
  ...{ at, sent: 100, late: 0, dropped: 0, lateness: timesOf(100, 1) },
  operations: {
    read: {
      count: 100,
      failed: 0,
      limited: 0,
      response: timesOf(100, 20),
      service: timesOf(100, 19),
    },
  },
  ...change,
});

export const result = (change: Partial<ProcessResult> = {}): ProcessResult => ({
  health: { stalls: [], numStalls: 0, stalledMs: 0, peakMib: 100, cpuSeconds: 1 },
  ...{ errors: [], violations: [], numViolations: 0, unfinished: 0, mostBots: 5 },
  requests: {
    sent: 100,
    direct: 0,
    repeated: {},
    connections: 1,
    lostConnections: 0,
    limited: {},
    guests: 0,
  },
  ...change,
});

/** A quiet run of ten seconds. */
export const measured = (change: Partial<Measured> = {}): Measured => ({
  context: {
    ...{
      scenario: "http",
      about: "reads",
      series: [],
      faults: [],
      leaves: {},
      status: "completed",
    },
    run: {
      ...{
        command: "bench",
        commit: null,
        isDirty: false,
        seed: 1,
        load: "poisson",
        isClosed: false,
      },
      ...{ startedAt: new Date(0).toISOString(), seconds: 10, processes: 1, maxInFlight: 10 },
    },
    target: { url: "http://127.0.0.1", isOwn: true, settings: {} },
    machine: {
      ...{ cpu: "one", cores: 2, memoryMib: 4_000, node: "22", system: "linux" },
      ...{ loadBefore: 0, loadAfter: 1, neighbours: [] },
    },
  },
  problems: [],
  budgets: ["read response p90 <= 50 ms"],
  seconds: Array.from({ length: 10 }, (_, at) => second(at)),
  results: [result()],
  ...change,
});
