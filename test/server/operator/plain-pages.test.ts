import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { OperatorRole } from "../../../server/http/auth/auth.ts";
import { jobRoutes, type JobsDeps } from "../../../server/operator/jobs/routes.ts";
import { workerRoutes, type WorkersDeps } from "../../../server/operator/workers/routes.ts";
import { answerOf } from "./call-route.ts";
import { listAudits } from "./audits.ts";

const evil = "<img src=x onerror=alert(1)>";
const headers = { accept: "text/html" };
const audit = listAudits();

const queues = [
  { name: evil, is_paused: true, counts: { waiting: 3 }, oldest_waiting_seconds: 7_500 },
  { name: "mail", is_paused: false, counts: { failed: 41 }, oldest_waiting_seconds: null },
];
const jobTimes = { lastHour: async () => [] };
const process = {
  index: 1,
  pid: 4_711,
  isReady: true,
  isDraining: false,
  restarts: 2,
  startedAt: 0,
  nodeId: null,
  instance: null,
};
const noEvents = { last: async () => [], between: async () => [], since: async () => [] };

const queuesAs = async (role: OperatorRole) => {
  const jobs = { queues: async () => queues };
  const deps = { audit, jobs, jobTimes } as unknown as JobsDeps;
  const path = "/operator/queues";
  return (await answerOf<JobsDeps, unknown>(jobRoutes, deps, path, { role, headers })).text;
};
const workersAs = async (role: OperatorRole) => {
  const processes = [
    { ...process, role: "http" },
    { ...process, role: "jobs" },
  ];
  const fleetProcesses = {
    list: async () => [{ service: "abc", host: "here", processes }],
    figures: async () => new Map(),
  };
  const given = { audit, fleetProcesses, processEvents: noEvents };
  const deps = given as unknown as WorkersDeps;
  const path = "/operator/workers";
  return (await answerOf<WorkersDeps, unknown>(workerRoutes, deps, path, { role, headers })).text;
};
const changesIn = (text: string) =>
  [...text.matchAll(/class="inline" method="post" action="([^"]+)"/g)].map(([, to]) => to);

describe("the pages of queues and workers", () => {
  it("offer of each queue what its state allows, and to drain HTTP workers only", async () => {
    const odd = `/operator/queues/${encodeURIComponent(evil)}`;
    assert.deepEqual(changesIn(await queuesAs("operator")), [
      `${odd}/resume`,
      "/operator/queues/mail/pause",
      "/operator/queues/mail/retry-failed",
    ]);
    assert.deepEqual(changesIn(await workersAs("operator")), ["/operator/workers/1/drain"]);
  });

  it("escape names", async () => {
    const text = await queuesAs("operator");
    assert.ok(text.includes("&#60;img") && !text.includes("<img"));
  });

  it("send a browser back to the list after a change", async () => {
    const jobs = {
      queue: async () => queues[1],
      setPaused: async () => queues[1],
    };
    const { status } = await answerOf<JobsDeps, unknown>(
      jobRoutes,
      { audit, jobs } as unknown as JobsDeps,
      "/operator/queues/mail/pause",
      { method: "POST", body: {}, headers },
    );
    assert.equal(status, 303);
  });
});
