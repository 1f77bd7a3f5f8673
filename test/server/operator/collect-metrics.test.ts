import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { systemClock } from "../../../server/platform/time/clock.ts";
import { silentLogger } from "../../../server/platform/log/logger.ts";
import { createMetrics } from "../../../server/platform/metrics/metrics.ts";
import { createJobService } from "../../../server/operator/jobs/service.ts";
import {
  collectMetrics,
  type MetricsInput,
} from "../../../server/operator/health/collect-metrics.ts";
import { createQueues } from "../../../workers/producer.ts";
import { mail } from "../../../workers/queues.ts";
import { testStores, type TestStores } from "../../support/stores.ts";
import { noOrigin } from "../../../server/platform/origin.ts";

const started = {
  ...{ isReady: true, isDraining: false, startedAt: 0, nodeId: null, instance: null },
  ...{ pid: 7, index: 0 },
};
const lines = (text: string, name: string) =>
  text.split("\n").filter((line) => line.startsWith(`${name}{`));

describe("metrics that are collected on request", () => {
  let stores: TestStores;
  before(async () => {
    stores = await testStores();
  });
  after(() => stores.stop());

  const observed: MetricsInput = {
    stores: async () => ({ postgres: "read_only", redis: "ok" }),
    queues: async () => null,
    processes: async () => [
      { ...started, role: "http", restarts: 2 },
      { ...started, role: "http", restarts: 1 },
      { ...started, role: "jobs", restarts: 0 },
    ],
  };

  it("report the state of the stores and the number of process restarts", async () => {
    const metrics = createMetrics();
    await collectMetrics(metrics, observed);
    await collectMetrics(metrics, observed);
    const text = await metrics.registry.metrics();
    assert.deepEqual(lines(text, "emberline_store_up"), [
      'emberline_store_up{store="postgres"} 0',
      'emberline_store_up{store="redis"} 1',
    ]);
    assert.deepEqual(lines(text, "emberline_process_restarts_total"), [
      'emberline_process_restarts_total{role="http"} 3',
      'emberline_process_restarts_total{role="job"} 0',
    ]);
  });

  it("count pending jobs, and omit the count while it is unavailable", async () => {
    const metrics = createMetrics();
    const queues = createQueues(stores.redisUrl, silentLogger);
    try {
      await queues.enqueue(mail, { messageId: 1, round: 0 }, noOrigin);
      await queues.enqueue(mail, { messageId: 2, round: 0 }, noOrigin);
      const service = createJobService(queues.all(), systemClock);
      await collectMetrics(metrics, { ...observed, queues: () => service.queues() });
      const text = await metrics.registry.metrics();
      const jobs = lines(text, "emberline_queue_jobs").filter((line) =>
        line.includes(`"${mail.name}"`),
      );
      assert.ok(
        jobs.includes(`emberline_queue_jobs{queue="${mail.name}",state="waiting"} 2`),
        text,
      );
      assert.ok(jobs.includes(`emberline_queue_jobs{queue="${mail.name}",state="failed"} 0`), text);
      assert.ok(!text.includes('state="completed"'));
    } finally {
      await queues.close();
    }
    await collectMetrics(metrics, observed);
    assert.deepEqual(lines(await metrics.registry.metrics(), "emberline_queue_jobs"), []);
  });
});
