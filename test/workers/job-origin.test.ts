import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Queue } from "bullmq";
import type { Occurrence } from "../../server/platform/faults/batch.ts";
import { createLogger, silentLogger } from "../../server/platform/log/logger.ts";
import { parseConfig } from "../../server/platform/config/config.ts";
import { createMetrics } from "../../server/platform/metrics/metrics.ts";
import { noOrigin, type Origin } from "../../server/platform/origin.ts";
import { noRequests, type QueuedJob } from "../../server/platform/requests/tracker.ts";
import { startJobs, type Jobs } from "../../workers/jobs.ts";
import { createQueues, type Queues } from "../../workers/producer.ts";
import { credentialRequests, mail } from "../../workers/queues.ts";
import { eventually } from "../support/eventually.ts";
import { acquireRedis, type TestRedis } from "../support/redis-server.ts";

const origin: Origin = { requestId: "request-1", playerId: 7, room: "lobby ABC234" };

describe("the origin of a job", () => {
  let server: TestRedis;
  let queues: Queues;
  let jobs: Jobs;
  const runs: { payload: { messageId: number }; origin: Origin }[] = [];
  const occurrences: Occurrence[] = [];
  const lines: string[] = [];
  const noted: [requestId: string | null, job: QueuedJob][] = [];
  const queue = (): Queue => queues.all().find(({ name }) => name === "mail") ?? assert.fail();

  before(async () => {
    server = await acquireRedis();
    const notes = {
      noteJob: (from: Origin, job: QueuedJob) => void noted.push([from.requestId, job]),
    };
    queues = createQueues(server.url, silentLogger, notes);
    const log = createLogger(parseConfig({ LOG_LEVEL: "info" }), "test", {
      write: (line) => void lines.push(line),
    });
    jobs = await startJobs<{ origin: Origin }>({
      ...{ redisUrl: server.url, log, metrics: createMetrics() },
      processors: {
        mail: async (payload: { messageId: number }, deps: { origin: Origin }) => {
          runs.push({ payload, origin: deps.origin });
          if (payload.messageId < 0) throw new Error("no");
        },
        "credential-requests": ({ requestId }: { requestId: number }, deps: { origin: Origin }) =>
          queues.enqueue(mail, { messageId: requestId, round: 0 }, deps.origin),
      },
      faults: { record: (occurrence) => void occurrences.push(occurrence) },
      depsOf: (from) => ({ origin: from }),
    });
  });
  after(async () => {
    await jobs.close();
    await queues.close();
    await server.release();
  });
  const runOf = async (messageId: number) => {
    const find = () => runs.find(({ payload }) => payload.messageId === messageId);
    await eventually("a run", async () => find() !== undefined);
    return find() ?? assert.fail();
  };

  it("lies beside the payload, and reaches its processor apart from it", async () => {
    const id = await queues.enqueue(mail, { messageId: 1, round: 0 }, origin);
    const run = await runOf(1);
    assert.deepEqual(run, { payload: { messageId: 1, round: 0 }, origin });
    assert.deepEqual((await queue().getJob(id))?.data, { messageId: 1, round: 0, origin });
    assert.deepEqual(noted.at(-1), ["request-1", { queue: "mail", id }]);
  });

  it("goes on to the jobs that a job queues", async () => {
    await queues.enqueue(credentialRequests, { requestId: 2, round: 0 }, origin);
    assert.deepEqual((await runOf(2)).origin, origin);
  });

  it("is unknown for a job of an earlier version, of periodic work, and for invalid data", async () => {
    const add = (messageId: number, more = {}) =>
      queue().add("mail", { messageId, round: 0, ...more }, { jobId: `m-${messageId}` });
    await add(3);
    assert.deepEqual((await runOf(3)).origin, noOrigin);
    await queues.enqueue(mail, { messageId: 4, round: 0 }, noOrigin);
    assert.deepEqual((await queue().getJob("message-4-0"))?.data, { messageId: 4, round: 0 });
    const invalid = { requestId: "<img onerror=x>", playerId: "7", room: "ada@example.com" };
    await add(5, { origin: invalid });
    assert.deepEqual((await runOf(5)).origin, noOrigin);
    await add(6, { origin: "request-1" });
    assert.deepEqual((await runOf(6)).origin, noOrigin);
  });

  it("is that of the first of equal jobs, and the second request learns the id of the job", async () => {
    const second = { ...noOrigin, requestId: "request-2" };
    const job = { messageId: 8, round: 0 };
    const id = await queues.enqueue(mail, job, origin);
    assert.equal(await queues.enqueue(mail, job, second), id);
    assert.deepEqual((await runOf(8)).origin, origin);
    assert.deepEqual(noted.at(-1), ["request-2", { queue: "mail", id }]);
  });

  it("is in the log of the job, in the log line, and with the recorded failure", async () => {
    const id = await queues.enqueue(mail, { messageId: -1, round: 0 }, origin);
    await eventually("a failure", async () => occurrences.some(({ job }) => job?.id === id));
    assert.deepEqual(occurrences.find(({ job }) => job?.id === id)?.origin, origin);
    const { logs } = await queue().getJobLogs(id);
    assert.match(logs[0] ?? "", / ms, request request-1, player 7, room lobby ABC234: no$/);
    const line = lines.find((each) => each.includes("job_attempt_failed")) ?? "{}";
    const { request, player, room } = JSON.parse(line) as Record<string, unknown>;
    assert.deepEqual([request, player, room], ["request-1", 7, "lobby ABC234"]);
  });

  it("needs nobody who keeps requests", async () => {
    const plain = createQueues(server.url, silentLogger, noRequests);
    await plain.enqueue(mail, { messageId: 9, round: 0 }, origin);
    assert.deepEqual((await runOf(9)).origin, origin);
    await plain.close();
  });
});
