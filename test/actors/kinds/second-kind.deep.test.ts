import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ChildProcess } from "node:child_process";
import { after, before, describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { Queue } from "bullmq";
import type { Redis } from "ioredis";
import { Keyspace, publishNodeDown, type RoomNode } from "../../../actors/index.ts";
import { parseOwner } from "../../../actors/cluster/owners.ts";
import { allShards } from "../../../actors/log/keys.ts";
import { silentLogger } from "../../../server/platform/log/logger.ts";
import { connectRedis, redisReady } from "../../../server/platform/redis/redis.ts";
import type { ToChild, ToPrimary } from "../../../server/runtime/ipc.ts";
import { queuePrefixOf } from "../../../workers/queues.ts";
import { insist } from "../../support/insist.ts";
import { listen, type Listener } from "../../faults/listener.ts";
import { createRandom } from "../../support/random.ts";
import { eventually } from "../../support/eventually.ts";
import { forked } from "../../support/forked.ts";
import { freePort } from "../../support/free-port.ts";
import { seed } from "../../support/seed.ts";
import { testStores, type TestStores } from "../../support/stores.ts";
import { target, turnMs } from "./counter.ts";
import { counterResults } from "./counter-results.ts";

const codes = [
  "CNTAAA",
  "CNTBBB",
  "CNTCCC",
  "CNTDDD",
  "CNTEEE",
  "CNTFFF",
  "CNTGGG",
  "CNTHHH",
  "CNTJJJ",
  "CNTKKK",
];
const keys = new Keyspace("counter:");
const lobbyKeys = new Keyspace("");
const processCount = 3;
/** Counts of each room between two kills. */
const countsPerKill = 20;
const kills = target / countsPerKill;
const pollMs = 20;

interface View {
  count: number;
  skipped: number;
  status: string;
  seq: number;
}

const settingsOf = ({ databaseUrl, redisUrl }: TestStores, url: string, dataDir: string) => ({
  ...{ APP_ENV: "test", DATABASE_URL: databaseUrl, REDIS_URL: redisUrl, DATA_DIR: dataDir },
  ...{ HOST: "127.0.0.1", PORT: new URL(url).port },
  ...{ RATE_LIMIT_FACTOR: "0", HUB_STREAMS_PER_ADDRESS: "1000", LOG_LEVEL: "error" },
});

describe("a second kind of actor, while its processes are killed one after another", () => {
  let stores: TestStores;
  let redis: Redis;
  let url = "";
  let dataDir = "";
  const processes: ChildProcess[] = [];
  /** One per kind. */
  const nodes = new Map<ChildProcess, RoomNode[]>();
  const listeners = new Map<string, Listener>();

  /** Starts a process and watches it, as the primary does. */
  async function start(): Promise<void> {
    const file = new URL("counter-process.ts", import.meta.url);
    const child = forked(file, [], settingsOf(stores, url, dataDir));
    processes.push(child);
    nodes.set(child, []);
    const order: ToChild = { type: "start", prepares: false, index: 0 };
    child.send(order);
    await new Promise<void>((ready, fail) =>
      child.on("message", (message: ToPrimary) => {
        if (message.type === "node") watch(child, message.node);
        if (message.type === "failed") fail(new Error(message.reason));
        if (message.type === "ready") ready();
      }),
    );
  }

  function watch(child: ChildProcess, node: RoomNode): void {
    nodes.get(child)?.push(node);
    child.once("exit", () => void publishNodeDown(redis, node, silentLogger));
  }

  const command = async (code: string, type: "open" | "read" | "count", by = 1): Promise<View> => {
    const answer = await insist(url, {
      method: "POST",
      path: `/v1/counters/${code}`,
      body: { type, by },
    });
    assert.equal(answer.status, 200, JSON.stringify(answer));
    return answer.body["counter"] as View;
  };

  /** Two players of a room take turns; returns the counts in their responses. */
  async function countOn(code: string, from: number, to: number, answers: number[]): Promise<void> {
    for (let n = from; n < to; n++) answers.push((await command(code, "count", 1 + (n % 2))).count);
  }

  before(async () => {
    stores = await testStores();
    redis = connectRedis(stores.redisUrl, silentLogger, "test");
    await redisReady(redis);
    url = `http://127.0.0.1:${await freePort()}`;
    dataDir = mkdtempSync(join(tmpdir(), "ember-kinds-"));
    await Promise.all(Array.from({ length: processCount }, start));
  });
  after(async () => {
    for (const { close } of listeners.values()) close();
    for (const child of processes) child.kill("SIGKILL");
    redis.disconnect();
    await stores.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it("loses and doubles no count, publishes in order, skips missed turns and queues each result once", async () => {
    const answers = new Map<string, number[]>(codes.map((code) => [code, []]));
    for (const code of codes) {
      await command(code, "open");
      await countOn(code, 0, 1, answers.get(code) ?? []);
      const listener = listen(url, `/rooms/counter/${code}`, "none", createRandom(seed));
      listeners.set(code, listener);
      await listener.started;
    }
    for (let kill = 0; kill < kills; kill++) {
      const [from, to] = [Math.max(1, kill * countsPerKill), (kill + 1) * countsPerKill];
      const counting = codes.map((code) => countOn(code, from, to, answers.get(code) ?? []));
      const victim = processes.shift();
      const exited = victim ? once(victim, "exit") : undefined;
      victim?.kill("SIGKILL");
      await exited;
      // Missed heartbeats mark no node as dead here, so its shards move only after the notice.
      const down = (victim && nodes.get(victim)) ?? [];
      assert.ok(down.some(({ keyPrefix }) => keyPrefix === "counter:"));
      const takenOver = Promise.all(down.map(untilTakenOver));
      await Promise.all([start(), takenOver, ...counting]);
      // Nobody counts for one turn; the owner skips it by a timer.
      if (kill < kills - 1) await untilSkipped(listeners.get(codes[0] ?? ""));
    }
    for (const code of codes) {
      const { received, ended } = listeners.get(code) ?? assert.fail(code);
      await ended;
      const { count, skipped, status } = await command(code, "read");
      assert.deepEqual({ count, status }, { count: target, status: "finished" }, code);
      const counts = (answers.get(code) ?? []).toSorted((a, b) => a - b);
      assert.deepEqual(
        counts,
        Array.from({ length: target }, (_, i) => i + 1),
        `${code}: each count is acknowledged once`,
      );
      const { doubled, missed, gaps } = received;
      assert.deepEqual({ doubled, missed, gaps }, { doubled: 0, missed: 0, gaps: 0 }, code);
      checkMessages(code, received.messages, skipped);
    }
    assert.deepEqual(
      await results(),
      codes.map((code) => ({ code, count: target })),
    );
  });

  /** Another node of the kind owns each shard of the killed node. */
  async function untilTakenOver({ keyPrefix, nodeId }: RoomNode): Promise<void> {
    const ofKind = new Keyspace(keyPrefix);
    await eventually(`the shards of ${nodeId} have another owner`, async () => {
      const owners = await redis.mget(allShards.map(ofKind.owner));
      return owners.every((owner) => parseOwner(owner)?.nodeId !== nodeId);
    });
  }

  async function untilSkipped(listener: Listener | undefined): Promise<void> {
    const skips = () =>
      [...(listener?.received.messages.values() ?? [])].filter((text) =>
        text.includes('"counter.skipped"'),
      ).length;
    const before = skips();
    await eventually(`a turn is skipped, which takes ${turnMs} ms`, () => skips() > before);
  }

  async function results(): Promise<unknown[]> {
    const prefix = queuePrefixOf(redis);
    const queue = new Queue(counterResults.name, { connection: redis, prefix });
    for (const end = performance.now() + 60_000; ; await delay(pollMs)) {
      const jobs = await queue.getJobs(["waiting"]);
      if (jobs.length >= codes.length || performance.now() > end)
        return jobs
          .map(({ data: { origin: _, ...payload } }) => payload as { code: string })
          .toSorted((a, b) => a.code.localeCompare(b.code));
    }
  }

  it("keeps its keys separate from the keys of lobbies", async () => {
    const all = await redis.keys("*");
    for (const kind of [keys, lobbyKeys]) assert.ok(all.includes(kind.workers), kind.workers);
    for (const code of codes) {
      assert.ok(all.includes(keys.state(code)), code);
      assert.ok(!all.includes(lobbyKeys.state(code)), code);
    }
  });
});

/** The listener's messages equal the room's state, number by number. */
function checkMessages(code: string, messages: ReadonlyMap<number, string>, skipped: number): void {
  let last: View = { count: 0, skipped: 0, status: "running", seq: 0 };
  for (const [seq, text] of messages) {
    const { type, data } = JSON.parse(text) as { type: string; data: { counter: View } };
    const { counter } = data;
    assert.equal(counter.seq, seq, `${code}: ${text}`);
    if (last.seq > 0) {
      const [count, skip] = [
        type === "counter.counted" ? 1 : 0,
        type === "counter.skipped" ? 1 : 0,
      ];
      const expected = [last.seq + 1, last.count + count, last.skipped + skip];
      assert.deepEqual([seq, counter.count, counter.skipped], expected, `${code}: ${text}`);
    }
    last = counter;
  }
  const { count, status } = last;
  assert.deepEqual(
    { count, skipped: last.skipped, status },
    { count: target, skipped, status: "ended" },
    code,
  );
}
