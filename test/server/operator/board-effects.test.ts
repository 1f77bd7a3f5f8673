import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { FlowProducer, type Job, type Queue } from "bullmq";
import { boardChanges } from "../../../server/operator/board/changes.ts";
import { boardPath } from "../../../server/operator/board/paths.ts";
import { startWholeOperator, tokenOf, type WholeOperator } from "./whole-operator.ts";

const reason = "a test of effects";
const hour = 3_600_000;

/** What one call of the board finds, sends and leaves. `job` is the one in its address. */
interface Effect {
  /** Prepares the queue; resolves to the job or scheduler of the address, if there is one. */
  before(queue: Queue): Promise<unknown>;
  /** Values of the address besides the queue and its job. */
  status?: string;
  body?: object;
  /** What shall be true afterwards. */
  isSo(queue: Queue, job: Job | undefined): Promise<boolean>;
}

const waiting = (queue: Queue) => queue.add("one", { n: 1 });
const delayed = (queue: Queue) => queue.add("one", { n: 1 }, { delay: hour });
const scheduled = (queue: Queue) =>
  queue.upsertJobScheduler("hourly", { every: hour }, { name: "one" });
const paused = (queue: Queue) => queue.pause();
/** The board cleans what is older than 5 s. */
const old = (queue: Queue) => queue.add("one", {}, { delay: hour, timestamp: Date.now() - 60_000 });
const withChild = async (queue: Queue) => {
  const { connection, prefix = "bull" } = queue.opts;
  const flows = new FlowProducer({ connection, prefix });
  const child = { name: "child", queueName: queue.name };
  const { job } = await flows.add({ name: "parent", queueName: queue.name, children: [child] });
  await flows.close();
  return job;
};
const isPaused = (queue: Queue) => queue.isPaused();
const isResumed = async (queue: Queue) => !(await queue.isPaused());
const count = (queue: Queue, state: "delayed" | "failed" | "waiting") =>
  queue.getJobCountByTypes(state);
const isGone = async (queue: Queue, job: Job | undefined) =>
  (await queue.getJob(job?.id ?? "")) === undefined;
const reload = async (queue: Queue, job: Job | undefined) =>
  (await queue.getJob(job?.id ?? "")) ?? assert.fail("the job is gone");

let whole: WholeOperator;
const failed = async (queue: Queue) => {
  await whole.failJobs(queue.name, { failing: {} }, new Error("no"));
  return queue.getJob("failing");
};

/** Every change that the board can ask for, made on a real queue. */
const effects: Readonly<Record<string, Effect>> = {
  "put /api/queues/pause": { before: async () => undefined, isSo: isPaused },
  "put /api/queues/resume": { before: paused, isSo: isResumed },
  "put /api/queues/:queueName/pause": { before: async () => undefined, isSo: isPaused },
  "put /api/queues/:queueName/resume": { before: paused, isSo: isResumed },
  "put /api/queues/:queueName/:jobId/retry": {
    before: failed,
    isSo: async (queue, job) => (await (await reload(queue, job)).getState()) === "waiting",
  },
  "put /api/queues/:queueName/:jobId/clean": { before: waiting, isSo: isGone },
  "put /api/queues/:queueName/retry/:queueStatus": {
    before: async (queue) => void (await failed(queue)),
    status: "failed",
    isSo: async (queue) => (await count(queue, "failed")) === 0,
  },
  "post /api/queues/:queueName/add": {
    before: async () => undefined,
    body: { name: "added", data: { n: 7 }, options: {} },
    isSo: async (queue) => (await queue.getJobs("waiting")).some(({ data }) => data.n === 7),
  },
  "put /api/queues/:queueName/promote": {
    before: async (queue) => void (await delayed(queue)),
    isSo: async (queue) => (await count(queue, "delayed")) === 0,
  },
  "put /api/queues/:queueName/:jobId/promote": {
    before: delayed,
    isSo: async (queue, job) => (await (await reload(queue, job)).getState()) === "waiting",
  },
  "patch /api/queues/:queueName/:jobId/update-data": {
    before: waiting,
    body: { jobData: { n: 8 } },
    isSo: async (queue, job) => (await reload(queue, job)).data.n === 8,
  },
  "patch /api/queues/:queueName/:jobId/delay": {
    before: delayed,
    body: { runAt: Date.now() + 2 * hour },
    isSo: async (queue, job) => (await reload(queue, job)).delay > 1.5 * hour,
  },
  "patch /api/queues/:queueName/:jobId/priority": {
    before: waiting,
    body: { priority: 5 },
    isSo: async (queue, job) => (await reload(queue, job)).priority === 5,
  },
  "put /api/queues/:queueName/:jobId/remove-unprocessed-children": {
    before: withChild,
    isSo: async (queue, job) =>
      (await (await reload(queue, job)).getState()) === "waiting" &&
      (await queue.getJobs()).every(({ name }) => name !== "child"),
  },
  "put /api/queues/:queueName/clean/:queueStatus": {
    before: async (queue) => void (await old(queue)),
    status: "delayed",
    isSo: async (queue) => (await count(queue, "delayed")) === 0,
  },
  "put /api/queues/:queueName/empty": {
    before: async (queue) => void (await waiting(queue)),
    isSo: async (queue) => (await count(queue, "waiting")) === 0,
  },
  "put /api/queues/:queueName/obliterate": {
    before: async (queue) => {
      const job = await waiting(queue);
      await queue.pause();
      return job;
    },
    isSo: isGone,
  },
  "put /api/queues/:queueName/concurrency": {
    before: async () => undefined,
    body: { concurrency: 3 },
    isSo: async (queue) => (await queue.getGlobalConcurrency()) === 3,
  },
  "put /api/queues/:queueName/rate-limit": {
    before: async () => undefined,
    body: { max: 4, duration: 1_000 },
    isSo: async (queue) => (await queue.getGlobalRateLimit())?.max === 4,
  },
  "put /api/queues/:queueName/rate-limit/release": {
    before: async (queue) => queue.rateLimit(hour),
    isSo: async (queue) => (await queue.getRateLimitTtl()) <= 0,
  },
  "put /api/queues/:queueName/job-schedulers/:schedulerId/remove": {
    before: async (queue) => void (await scheduled(queue)),
    isSo: async (queue) => (await queue.getJobScheduler("hourly")) === undefined,
  },
  "patch /api/queues/:queueName/job-schedulers/:schedulerId": {
    before: async (queue) => void (await scheduled(queue)),
    body: { every: 2 * hour },
    isSo: async (queue) => (await queue.getJobScheduler("hourly"))?.every === 2 * hour,
  },
  "put /api/queues/:queueName/job-schedulers/:schedulerId/run": {
    before: async (queue) => void (await scheduled(queue)),
    isSo: async (queue) => (await count(queue, "waiting")) > 0,
  },
};

describe("a change on the queue board", () => {
  let queue: Queue;
  before(async () => {
    whole = await startWholeOperator({});
    queue = whole.queueOf("maintenance");
  });
  after(() => whole.stop());

  it("is tried for every call that the board has", () => {
    assert.deepEqual(Object.keys(effects).toSorted(), Object.keys(boardChanges).toSorted());
  });

  for (const [call, { before: prepare, status = "", body = {}, isSo }] of Object.entries(effects))
    it(`has its effect: ${call}`, async () => {
      await queue.obliterate({ force: true });
      await queue.resume();
      const prepared = await prepare(queue);
      const job = prepared instanceof Object && "id" in prepared ? (prepared as Job) : undefined;
      const values: Record<string, string> = {
        ...{ queueName: queue.name, jobId: job?.id ?? "", queueStatus: status },
        schedulerId: "hourly",
      };
      const [method = "", path = ""] = call.split(" ");
      const address = path.replace(/:(\w+)/g, (_, name: string) => values[name] ?? "");
      const answer = await fetch(whole.url + boardPath + address, {
        method: method.toUpperCase(),
        headers: {
          "content-type": "application/json",
          authorization: `Bearer ${tokenOf("admin")}`,
          cookie: `operator_reason=${encodeURIComponent(reason)}`,
        },
        body: JSON.stringify(body),
      });
      const text = await answer.text();
      assert.ok(answer.status < 300, `${answer.status} ${text}`);
      assert.ok(await isSo(queue, job), "the queue is as before");
    });
});
