import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { after, before, describe, it } from "node:test";
import { Worker } from "bullmq";
import type { Redis } from "ioredis";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { connectRedis } from "../../server/platform/redis/redis.ts";
import { LazyQueues } from "../../workers/lazy-queues.ts";
import { createQueues } from "../../workers/producer.ts";
import { avatarModeration, credentialRequests, mail } from "../../workers/queues.ts";
import { eventually } from "../support/eventually.ts";
import { testStores, type TestStores } from "../support/stores.ts";
import { noOrigin } from "../../server/platform/origin.ts";
import { noRequests } from "../../server/platform/requests/tracker.ts";

let stores: TestStores;

const queueOf = (queues: ReturnType<typeof createQueues>) => {
  const queue = queues.all().find(({ name }) => name === mail.name);
  assert.ok(queue);
  return queue;
};

let ids = 0;
const payload = () => ({ messageId: ++ids, round: 0 });

/** Processes the waiting jobs with the outcome `end`. */
async function withWorker<T>(end: () => Promise<void>, work: () => Promise<T>): Promise<T> {
  const connection = connectRedis(stores.redisUrl, silentLogger, "worker", {
    waitsForConnection: true,
  });
  const worker = new Worker(mail.name, end, { connection, prefix: "jobs" });
  try {
    return await work();
  } finally {
    await worker.close();
    connection.disconnect();
  }
}

/** A connection to Redis that can fail. */
async function startFront() {
  const sockets = new Set<Socket>();
  let isUnresponsive = false;
  let isGoing = false;
  const front = createServer((socket) => {
    sockets.add(socket.on("error", () => {}));
    if (isUnresponsive) return;
    const behind = connect(stores.redisUrl.slice("unix://".length)).on("error", () => {});
    sockets.add(behind);
    socket.on("data", (chunk) => {
      if (!isGoing) return behind.write(chunk);
      front.close();
      return socket.destroy();
    });
    behind.pipe(socket);
  });
  front.listen(0, "127.0.0.1");
  await once(front, "listening");
  const { port } = front.address() as AddressInfo;
  return {
    url: `redis://127.0.0.1:${port}`,
    goDeaf: () => (isUnresponsive = true),
    goAtNextQuestion: () => (isGoing = true),
    comeBack() {
      isGoing = false;
      front.listen(port, "127.0.0.1");
    },
    close() {
      for (const socket of sockets) socket.destroy();
      front.close();
    },
  };
}

describe("queues created on first use", () => {
  before(async () => {
    stores = await testStores();
  });
  after(() => stores.stop());

  it("accept jobs, and none after they are closed, whether they were used or not", async () => {
    const used = new LazyQueues(stores.redisUrl, silentLogger, noRequests);
    assert.match(await used.enqueue(mail, payload(), noOrigin), /^message-/);
    assert.equal(await used.enqueueAndWait(mail, payload(), noOrigin, 50), false);
    const unused = new LazyQueues(stores.redisUrl, silentLogger, noRequests);
    for (const queues of [used, unused]) {
      await queues.close();
      await assert.rejects(queues.enqueue(mail, payload(), noOrigin), /the queues are closed/);
    }
  });
});

describe("a caller waiting for a job", () => {
  before(async () => {
    stores = await testStores();
  });
  after(() => stores.stop());

  describe("is notified", () => {
    it("is notified of the end, also when the job ended before the caller listened", async () => {
      const queues = createQueues(stores.redisUrl, silentLogger);
      try {
        await withWorker(
          async () => {},
          async () => {
            const same = payload();
            assert.equal(await queues.enqueueAndWait(mail, same, noOrigin, 60_000), true);
            assert.equal(await queues.enqueueAndWait(mail, same, noOrigin, 60_000), true);
            const many = Array.from({ length: 50 }, () =>
              queues.enqueueAndWait(mail, payload(), noOrigin, 60_000),
            );
            assert.deepEqual(new Set(await Promise.all(many)), new Set([true]));
          },
        );
      } finally {
        await queues.close();
      }
    });

    it("times out while no worker is running", async () => {
      const queues = createQueues(stores.redisUrl, silentLogger);
      try {
        assert.equal(await queues.enqueueAndWait(mail, payload(), noOrigin, 50), false);
      } finally {
        await queues.close();
      }
    });
  });
  describe("recovers from Redis failures", () => {
    it("survives a Redis outage between the request and the answer", async () => {
      const queues = createQueues(stores.redisUrl, silentLogger);
      try {
        await queues.enqueue(mail, payload(), noOrigin);
        const queue = queueOf(queues);
        const connection = queue.opts.connection as Redis;
        queue.once("waiting", () => connection.disconnect());
        assert.equal(await queues.enqueueAndWait(mail, payload(), noOrigin, 300), false);
      } finally {
        await queues.close();
      }
    });

    it("has the job queued once by a clean-up, however long no worker is running", async () => {
      const queues = createQueues(stores.redisUrl, silentLogger);
      try {
        for (const round of [0, 1, 2]) {
          await queues.enqueue(mail, { messageId: 1_000_000, round }, noOrigin);
          await queues.enqueue(avatarModeration, { uploadId: 1_000_000, round }, noOrigin);
          await queues.enqueue(credentialRequests, { requestId: 1_000_000, round }, noOrigin);
        }
        const waiting = await Promise.all(queues.all().map((queue) => queue.getWaiting()));
        const million = waiting.flat().filter(({ id }) => id?.includes("-1000000-"));
        assert.equal(million.length, 3);
      } finally {
        await queues.close();
      }
    });

    it("can queue a job again after an outage at the first use of its queue", async () => {
      const front = await startFront();
      const queues = createQueues(front.url, silentLogger);
      try {
        await queues.enqueue(mail, payload(), noOrigin);
        front.goAtNextQuestion();
        const upload = { uploadId: 1, round: 0 };
        await assert.rejects(queues.enqueue(avatarModeration, upload, noOrigin));
        front.comeBack();
        await eventually("the queue takes the job", () =>
          queues.enqueue(avatarModeration, upload, noOrigin).then(
            () => true,
            () => false,
          ),
        );
      } finally {
        await queues.close();
        front.close();
      }
    });

    it("stops waiting when no events arrive, and so does closing", async () => {
      const front = await startFront();
      const queues = createQueues(front.url, silentLogger);
      try {
        await queues.enqueue(mail, payload(), noOrigin);
        front.goDeaf();
        assert.equal(await queues.enqueueAndWait(mail, payload(), noOrigin, 100), false);
        assert.equal((await queueOf(queues).getWaitingCount()) > 0, true);
      } finally {
        await queues.close();
        front.close();
      }
    });
  });
});
