import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AuditStore } from "../../../../server/operator/audit.ts";
import { createAudit } from "../../../../server/operator/audit.ts";
import { workerRoutes, type WorkersDeps } from "../../../../server/operator/workers/routes.ts";
import { silentLogger } from "../../../../server/platform/log/logger.ts";
import type { DrainAnswer, DrainQuestion } from "../../../../server/runtime/process-questions.ts";
import { manualClock } from "../../../support/clock.ts";
import { answerOf } from "../call-route.ts";

const worker = {
  ...{ role: "http" as const, index: 0, pid: 7, isReady: true, isDraining: false },
  ...{ restarts: 0, startedAt: 0, nodeId: "w7", instance: null },
};
const instances = [
  { service: "own", host: "a", processes: [worker] },
  { service: "other", host: "b", processes: [{ ...worker, index: 1, pid: 8 }] },
  { service: "silent", host: "c", processes: null },
];

/** Orders a drain that ends in this answer. */
async function drain(index: number, service: string | undefined, answer: DrainAnswer) {
  const records: string[] = [];
  const store: AuditStore = {
    begin: async ({ action, target, reason }) => records.push(`${action} ${target}: ${reason}`),
    end: async (_, { outcome }) => void records.push(outcome),
  };
  const orders: DrainQuestion[] = [];
  const deps: WorkersDeps = {
    audit: createAudit(store, silentLogger),
    fleetProcesses: { list: async () => instances, figures: async () => new Map() },
    processEvents: { last: async () => [], between: async () => [], since: async () => [] },
    clock: manualClock(),
    drain: async (order) => {
      orders.push(order);
      return answer;
    },
  };
  const reply = await answerOf<WorkersDeps, { worker?: { pid: number } }>(
    workerRoutes,
    deps,
    `/operator/workers/${index}/drain`,
    { method: "POST", body: { reason: "it grew", ...(service === undefined ? {} : { service }) } },
  );
  const code = /"code":"([\w:]+)"/.exec(reply.text)?.[1] ?? "";
  return { status: reply.status, code, pid: reply.body?.worker?.pid, orders, records };
}

describe("the order to drain a worker", () => {
  it("goes to the instance that is asked, or to the one that it names", async () => {
    const own = await drain(0, undefined, "draining");
    assert.deepEqual(
      [own.status, own.pid, own.orders],
      [202, 7, [{ index: 0, instance: undefined }]],
    );
    assert.deepEqual(own.records, ["worker:drain http 0: it grew", "done"]);
    const other = await drain(1, "other", "draining");
    assert.deepEqual(
      [other.status, other.pid, other.orders],
      [202, 8, [{ index: 1, instance: "other" }]],
    );
    assert.deepEqual(other.records, ["worker:drain http 1 of other: it grew", "done"]);
  });

  it("is refused before anything is recorded if there is no such worker", async () => {
    for (const [index, service, status, code] of [
      [1, undefined, 404, "worker:not_found"],
      [0, "other", 404, "worker:not_found"],
      [0, "gone", 404, "worker:instance_not_found"],
      [0, "silent", 503, "worker:instance_unreachable"],
    ] as const) {
      const found = await drain(index, service, "draining");
      const expected = { status, code, orders: [], records: [] };
      assert.deepEqual(
        { status: found.status, code: found.code, orders: found.orders, records: found.records },
        expected,
      );
    }
  });

  it("has the outcome of its end in the audit log, which stays open while nobody has confirmed it", async () => {
    for (const [answer, status, code, outcome] of [
      ["last", 409, "worker:last", ["refused"]],
      ["not_ready", 409, "worker:not_ready", ["refused"]],
      ["instance_not_found", 404, "worker:instance_not_found", ["refused"]],
      ["instance_unreachable", 503, "worker:instance_unreachable", ["failed"]],
      ["unconfirmed", 504, "worker:unconfirmed", ["started"]],
    ] as const) {
      const found = await drain(0, undefined, answer);
      const [, ...ends] = found.records;
      assert.deepEqual([found.status, found.code, ends], [status, code, outcome], answer);
    }
  });
});
