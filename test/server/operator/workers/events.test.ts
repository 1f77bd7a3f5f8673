import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { StoredProcessEvent } from "../../../../server/platform/process-event.ts";
import { AppError } from "../../../../server/platform/errors.ts";
import { eventText } from "../../../../server/operator/workers/events.ts";
import { workerRoutes, type WorkersDeps } from "../../../../server/operator/workers/routes.ts";
import type { ProcessInfo } from "../../../../server/runtime/ipc.ts";
import { manualClock } from "../../../support/clock.ts";
import { listAudits } from "../audits.ts";
import { answerOf } from "../call-route.ts";

const headers = { accept: "text/html" };
const evil = "<img src=x onerror=alert(1)>";
const clock = manualClock();
const instance = { id: "abc", role: "http", index: 0, version: "1.0.0", build: "b1" };
const worker = {
  ...{ role: "http" as const, index: 0, pid: 7, isReady: true, restarts: 0, startedAt: 0 },
  isDraining: false,
  ...{ nodeId: "w7", instance },
};
const takeover: StoredProcessEvent = {
  ...{ key: "k", kind: "takeover", atMs: 1_700_000_000_123, service: "s" },
  ...{ role: "http", index: 0, pid: 7, instance: "http-0@abc", version: "1.0.0", build: "b1" },
  detail: {
    ...{ cause: "frozen", from_process: "http-1@def", from_incarnation: "w8" },
    ...{ room_kind: "lobby", num_shards: 512, num_rooms: 1 },
  },
};

/** The processes of one instance. */
const instanceOf = (processes: ProcessInfo[]): WorkersDeps["fleetProcesses"] => ({
  list: async () => [{ service: "abc", host: "here", processes }],
  figures: async () => {
    const load = { memoryBytes: 3 * 1_048_576, loopLagMs: 2, numStreams: 0, numRooms: 0 };
    return new Map([[instance.id, { process: instance.id, ...load }]]);
  },
});

const open = async (path: string, given: Partial<WorkersDeps> = {}, accept = headers.accept) => {
  const deps: WorkersDeps = {
    audit: listAudits(),
    fleetProcesses: instanceOf([worker]),
    processEvents: {
      last: async () => [takeover],
      between: async () => [takeover],
      since: async () => [],
    },
    clock,
    drain: async () => "draining",
    ...given,
  };
  return answerOf<WorkersDeps, Record<string, unknown>>(workerRoutes, deps, path, {
    headers: { accept },
  });
};

describe("the page of processes", () => {
  it("shows instance, version, build and load, and what happened", async () => {
    const { text } = await open("/operator/workers");
    for (const part of ["http-0@abc", "1.0.0", "b1", "3 MiB", "2 ms"])
      assert.ok(text.includes(part), part);
    assert.match(text, /took over 512 shards, 1 lobby room of http-1@def: frozen/);
    assert.doesNotMatch(text, /builds run/);
  });

  it("says so when processes of different builds run", async () => {
    const other = { ...worker, index: 1, instance: { ...instance, build: "b2" } };
    const { text } = await open("/operator/workers", {
      fleetProcesses: instanceOf([worker, other]),
    });
    assert.match(text, /Processes of 2 builds run\./);
  });

  it("opens while Postgres is away, and says that events are unknown", async () => {
    const away = () => Promise.reject(new AppError("worker:events_unavailable"));
    const processEvents = { last: away, between: away, since: away };
    const page = await open("/operator/workers", { processEvents });
    assert.equal(page.status, 200);
    assert.match(page.text, /Postgres does not respond: events are unknown\./);
    const json = await open("/operator/workers", { processEvents }, "application/json");
    assert.equal(json.body["events"], null);
    assert.equal((await open("/operator/workers/events", { processEvents })).status, 503);
  });

  it("escapes the words of a process that ended", async () => {
    const exited = { ...takeover, kind: "exited", detail: { exit_code: 1, reason: evil } };
    const processEvents = {
      last: async () => [exited],
      between: async () => [exited],
      since: async () => [],
    };
    for (const path of ["/operator/workers", "/operator/workers/events"]) {
      const { text } = await open(path, { processEvents });
      assert.ok(text.includes("&#60;img") && !text.includes("<img"), path);
    }
  });
});

describe("the list of events", () => {
  it("is that of the last day, or of the time in the query", async () => {
    const asked: [number, number][] = [];
    const between = async (from: number, to: number) => {
      asked.push([from, to]);
      return [takeover];
    };
    const processEvents = { last: async () => [], since: async () => [], between };
    const path = "/operator/workers/events";
    const { body } = await open(path, { processEvents }, "application/json");
    await open(
      `${path}?from=2026-03-01T12:00:00Z&to=2026-03-01T13:00:00Z`,
      { processEvents },
      "application/json",
    );
    assert.deepEqual(asked[1], [Date.UTC(2026, 2, 1, 12), Date.UTC(2026, 2, 1, 13)]);
    const [first = [0, 0]] = asked;
    assert.equal(first[1] - first[0], 86_400_000);
    assert.ok(first[1] >= clock.now());
    const [event] = body["events"] as { at: string; detail: object }[];
    assert.deepEqual(event?.detail, takeover.detail);
    assert.equal(body["older_than"], null);
  });
});

describe("the words about an event", () => {
  it("are its kind for one of a later version", () => {
    for (const kind of ["melted", "constructor"])
      assert.equal(eventText({ kind, detail: {} }), kind);
  });

  it("name the signal or the exit code of a process that ended", () => {
    const textOf = (detail: Record<string, string | number | null>) =>
      eventText({ kind: "exited", detail });
    assert.equal(textOf({ exit_code: null, signal: "SIGKILL", reason: null }), "ended: SIGKILL");
    assert.equal(
      textOf({ exit_code: 1, signal: null, reason: "no disk" }),
      "ended: exit code 1, no disk",
    );
  });
});
