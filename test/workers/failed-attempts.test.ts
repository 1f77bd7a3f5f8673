import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Queue } from "bullmq";
import type { Redis } from "ioredis";
import type { Occurrence } from "../../server/platform/faults/batch.ts";
import { Fault } from "../../server/platform/faults/fault.ts";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { createMetrics } from "../../server/platform/metrics/metrics.ts";
import { connectRedis, redisReady } from "../../server/platform/redis/redis.ts";
import { maskLogLine } from "../../server/platform/text/job-log-line.ts";
import { startJobs, type Jobs } from "../../workers/jobs.ts";
import { createQueues, type Queues } from "../../workers/producer.ts";
import { mail } from "../../workers/queues.ts";
import { eventually } from "../support/eventually.ts";
import { acquireRedis, type TestRedis } from "../support/redis-server.ts";
import { noOrigin } from "../../server/platform/origin.ts";

describe("a failed attempt of a job", () => {
  let server: TestRedis;
  let redis: Redis;
  let queues: Queues;
  let jobs: Jobs;
  const occurrences: Occurrence[] = [];
  let fail = (): Error => new Error("unset");
  const queue = (): Queue => queues.all().find(({ name }) => name === "mail") ?? assert.fail();

  before(async () => {
    server = await acquireRedis();
    redis = connectRedis(server.url, silentLogger, "test");
    await redisReady(redis);
    queues = createQueues(server.url, silentLogger);
    jobs = await startJobs({
      ...{ redisUrl: server.url, log: silentLogger, metrics: createMetrics() },
      processors: { mail: () => Promise.reject(fail()) },
      faults: { record: (occurrence) => void occurrences.push(occurrence) },
      workerName: "jobs-1@abcdefghijkl",
      depsOf: () => null,
    });
  });
  after(async () => {
    await jobs.close();
    await queues.close();
    redis.disconnect();
    await server.release();
  });

  let lastId = 0;
  /** Fails this often; returns the job. */
  async function failTimes(times: number) {
    const id = await queues.enqueue(mail, { messageId: ++lastId, round: 0 }, noOrigin);
    for (let attempt = 1; attempt <= times; attempt++) {
      const failed = async () => (await queue().getJob(id))?.attemptsMade === attempt;
      await eventually(`attempt ${attempt}`, failed);
      const job = (await queue().getJob(id)) ?? assert.fail();
      if (attempt < times) await job.promote();
    }
    return (await queue().getJob(id)) ?? assert.fail();
  }
  const bytesOf = async (id: string) => {
    let bytes = 0;
    for (const key of [`jobs:mail:${id}`, `jobs:mail:${id}:logs`])
      bytes += Number((await redis.memory("USAGE", key, "SAMPLES", 0)) ?? 0);
    return bytes;
  };
  const longest = () =>
    new Fault("smtp.deferred", {
      ...{ peer: "mail-relay.eu-central-1.example.com:587", status: 451 },
      text: "greylisted, come back later ".repeat(40),
    });

  it("is recorded with its fault and its job, and whether another attempt follows", async () => {
    fail = longest;
    const { id } = await failTimes(2);
    const own = occurrences.filter(({ job }) => job?.id === id);
    assert.deepEqual(
      own.map(({ kind, place, job }) => [kind, place, job?.attempt, job?.isFinal]),
      [
        ["job", "mail", 1, false],
        ["job", "mail", 2, false],
      ],
    );
    assert.ok(own.every(({ error }) => error instanceof Fault && error.status === 451));
  });

  it("is the last one after a permanent fault", async () => {
    fail = () => new Fault("smtp.refused", { status: 550, isPermanent: true });
    const job = await failTimes(1);
    await eventually("a failed job", () => job.isFailed());
    assert.equal(occurrences.at(-1)?.job?.isFinal, true);
    assert.equal(job.failedReason, "smtp.refused 550");
  });

  it("adds a line to the log of the job, with time, worker, duration and fault", async () => {
    fail = () => new Fault("smtp.refused", { peer: "mail.example:25", status: 550, text: "no" });
    const { id } = await failTimes(2);
    const { logs } = await queue().getJobLogs(id ?? "");
    assert.equal(logs.length, 2);
    assert.match(
      logs[1] ?? "",
      /^\d{4}-\S+Z attempt 2 on jobs-1@abcdefghijkl, \d+ ms: smtp\.refused 550 at mail\.example:25: no$/,
    );
  });

  it("shows process and origin in its line, and hides addresses in a line of any form", async () => {
    const head = "2026-03-01T12:00:00.000Z attempt 1 on jobs-1@abcdefghijkl, 7 ms";
    const request = "request 0f8fad5b-D9cb-469f-a165-708677289501";
    for (const facts of ["", `, ${request}`, `, ${request}, player 123456, room lobby ABC234`])
      assert.equal(
        maskLogLine(`${head}${facts}: wrote to ada@example.com`),
        `${head}${facts}: wrote to ***@***`,
      );
    assert.equal(maskLogLine("attempt of ada@example.com"), "attempt of ***@***");
  });

  it("keeps a bounded number of lines, also in a job of an earlier version", async () => {
    fail = longest;
    const { id } = await queue().add(
      "mail",
      { messageId: 900, round: 0 },
      { jobId: "old", attempts: 14, keepLogs: 0 },
    );
    for (let attempt = 1; attempt <= 12; attempt++) {
      await eventually(
        `attempt ${attempt}`,
        async () => (await queue().getJob("old"))?.attemptsMade === attempt,
      );
      await (await queue().getJob("old"))?.promote();
    }
    assert.equal((await queue().getJobLogs(id ?? "")).count, 10);
  });

  it("takes at most 2.5 kB of Redis once, and 6 kB five times", async () => {
    fail = longest;
    const once = await failTimes(1);
    assert.ok((await bytesOf(once.id ?? "")) <= 2_500, `${await bytesOf(once.id ?? "")} bytes`);
    const five = await failTimes(5);
    assert.ok((await bytesOf(five.id ?? "")) <= 6_000, `${await bytesOf(five.id ?? "")} bytes`);
  });

  it("stores a short stack that names the sources, without addresses, codes and tokens", async () => {
    fail = () => new TypeError("ada@example.com has 123456 and token=AbCdEf0123456789abcdef01");
    const job = await failTimes(1);
    const stored = JSON.stringify([job.toJSON(), await queue().getJobLogs(job.id ?? "")]);
    assert.doesNotMatch(stored, /ada@|123456|AbCdEf/);
    assert.match(
      job.stacktrace?.[0] ?? "",
      /^TypeError\n {2}at .*test\/workers\/failed-attempts\.test\.ts:\d+/,
    );
  });
});
