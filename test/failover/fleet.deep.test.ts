import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import type { Redis } from "ioredis";
import { restartFleet } from "../../server/console/rolling-restart.ts";
import { workerCommands } from "../../server/console/workers.ts";
import { parseConfig, type Config } from "../../server/platform/config/config.ts";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { connectRedis, redisReady } from "../../server/platform/redis/redis.ts";
import { finishUpgrade, UpgradeOpen } from "../../server/runtime/boot/release-order.ts";
import { readFleet } from "../../server/runtime/fleet/registry.ts";
import { eventually } from "../support/eventually.ts";
import { playGame } from "../support/game.ts";
import { newPlayer } from "../support/player.ts";
import {
  failToStart,
  serviceEnv,
  startService,
  temporaryDataDir,
  type Process,
  type Service,
} from "../support/process.ts";
import { testStores, type TestStores } from "../support/stores.ts";
import { Neighbours } from "../support/neighbours.ts";

interface FleetBody {
  instances: { id: string; pid: number; ready: string; num_rooms: number; commit: string }[];
  problems: { kind: string }[];
  unregistered: string[];
}

/** Rooms in memory by the node id of their owner. */
type RoomsBody = { owners: { incarnation: string; num_rooms: number; num_shards: number }[] };

/** So many that each instance owns the room of one. */
const games = 10;
const delaySeconds = 3;

let stores: TestStores;
let redis: Redis;
let others: Neighbours;
let first: Service;
let second: Service;

const settings = () => ({
  DATABASE_URL: stores.databaseUrl,
  REDIS_URL: stores.redisUrl,
  HTTP_WORKERS: "1",
  JOB_WORKERS: "0",
  RATE_LIMIT_FACTOR: "0",
  LOBBY_MIN_QUESTION_MS: "0",
  SHUTDOWN_DELAY_SECONDS: String(delaySeconds),
});
const start = () => startService({ env: settings() });

const workerOf = async (service: Service): Promise<Process> =>
  (await service.processes()).find(({ role }) => role === "http") ?? assert.fail("no worker");

async function read<Body>(service: Service, path: string): Promise<Body> {
  const headers = { authorization: `Bearer ${service.operatorToken}` };
  const response = await fetch(`${service.operatorUrl}${path}`, { headers });
  return ((await response.json()) as { body: Body }).body;
}

const readyWord = async (service: Service) =>
  (await fetch(`${service.operatorUrl}/ready`, { headers: { connection: "close" } })).text();

/** Settings of the console on the machine of this instance. */
const configOf = (service: Service): Config => ({
  ...parseConfig({ DATA_DIR: service.dataDir, SHUTDOWN_DELAY_SECONDS: String(delaySeconds) }),
  OPERATOR_LISTEN: new URL(service.operatorUrl).host,
  OPERATOR_TOKEN: service.operatorToken,
});

/** Orders the drain of the only worker of an instance, at another instance or its own. */
function drain(at: Service, of: Process): Promise<unknown> {
  const [command] = workerCommands;
  assert.ok(command);
  return Promise.resolve(
    command.run(configOf(at), { index: "0", instance: of.service, reason: "it grew" }),
  );
}

const isReplaced = (service: Service, old: Process) => async () => {
  const now = await workerOf(service);
  return now.is_ready && now.pid !== old.pid && (await readyWord(service)) === "ready";
};

/** Resolves when both have a part of the rooms. */
const bothOwn = () =>
  eventually("both own rooms", async () => {
    const owners = await others.owners();
    const nodes = await Promise.all([first, second].map(workerOf));
    return nodes.every(
      ({ incarnation }) => owners.filter((one) => one?.startsWith(`${incarnation}|`)).length > 300,
    );
  });

describe("two instances with one HTTP worker each", () => {
  before(async () => {
    stores = await testStores();
    redis = connectRedis(stores.redisUrl, silentLogger, "test");
    await redisReady(redis);
    others = new Neighbours(redis, stores.redisUrl);
    [first, second] = await Promise.all([start(), start()]);
  });
  after(async () => {
    await Promise.all([first.stop(), second.stop()]);
    redis.disconnect();
    await stores.stop();
  });

  it("see each other: instances, processes and rooms, at either listener", async () => {
    await bothOwn();
    const pids = (await Promise.all([first, second].map(workerOf))).map(({ pid }) => pid);
    for (const service of [first, second]) {
      await eventually("both are ready", async () => {
        const { instances } = await read<FleetBody>(service, "/operator/fleet");
        return instances.length === 2 && instances.every(({ ready }) => ready === "ready");
      });
      const fleet = await read<FleetBody>(service, "/operator/fleet");
      assert.deepEqual(
        fleet.instances.map(({ pid }) => pid).toSorted(),
        [first.pid, second.pid].toSorted(),
      );
      assert.deepEqual(fleet.unregistered, []);
      const kinds = fleet.problems.map(({ kind }) => kind);
      assert.deepEqual(kinds, ["avatar-folder", "import-folder"]);
      const { workers } = await read<{ workers: Process[] }>(service, "/operator/workers");
      const found = workers.filter(({ role }) => role === "http").map(({ pid }) => pid);
      assert.deepEqual(found.toSorted(), pids.toSorted());
      const { owners } = await read<RoomsBody>(service, "/operator/rooms/lobby");
      assert.equal(
        owners.reduce((sum, one) => sum + one.num_shards, 0),
        1_024,
      );
      const health = await read<{ status: string; degraded: string[] }>(service, "/health");
      assert.equal(health.status, "ok");
      assert.match(health.degraded.join(), /set AVATAR_STORE/);
    }
  });

  for (const [how, order] of [
    ["by SIGTERM", async ({ pid }: Process) => void process.kill(pid, "SIGTERM")],
    ["by the console at the other one", (worker: Process) => drain(second, worker)],
  ] as const)
    it(`drain the only worker of one ${how}: its rooms move to the other, and no event is lost`, async () => {
      await bothOwn();
      const [old, other] = await Promise.all([first, second].map(workerOf));
      assert.ok(old && other);
      let isOrdered = false;
      /** Orders it in the middle of the games, and goes on once the rooms have moved. */
      const injectFault = async (question: number) => {
        if (question !== 1 || isOrdered) return;
        isOrdered = true;
        const { owners } = await read<RoomsBody>(second, "/operator/rooms/lobby");
        const before = owners.find(({ incarnation }) => incarnation === old.incarnation);
        assert.ok((before?.num_rooms ?? 0) > 0, "it holds rooms");
        await order(old);
        await eventually("balancers are told", async () => (await readyWord(first)) === "draining");
        await eventually("the other owns every room", async () =>
          (await others.owners()).every((one) => one?.startsWith(`${other.incarnation}|`)),
        );
      };
      const results = await Promise.all(
        Array.from({ length: games }, async (_, i) => {
          const urls = [first.url, second.url];
          const named = [1, 2].map((seat) => newPlayer(urls, `${how} ${i} ${seat}`, second.url));
          const options = { mode: "coop", questions: 4, injectFault } as const;
          return playGame(await Promise.all(named), options);
        }),
      );
      for (const { status } of results) assert.equal(status, "finished");
      await eventually("it has a successor, and is ready", isReplaced(first, old));
      assert.equal((await workerOf(second)).pid, other.pid);
    });

  it("go on if the other one is gone before the worker gives up its rooms", async () => {
    await bothOwn();
    const old = await workerOf(first);
    await drain(first, old);
    assert.equal(await readyWord(first), "draining");
    const pids = (await second.processes()).map(({ pid }) => pid);
    for (const pid of [second.pid, ...pids]) process.kill(pid, "SIGKILL");
    await second.kill();
    await eventually("it is ready again", async () => (await readyWord(first)) === "ready");
    const now = await workerOf(first);
    assert.deepEqual([now.pid, now.is_draining], [old.pid, false]);
    await assert.rejects(drain(first, old), /^Refusal: worker:last|^Error: worker:last/);
    second = await start();
  });

  it("are restarted one after the other by one command", async () => {
    await bothOwn();
    const before = await Promise.all([first, second].map(workerOf));
    const lines: string[] = [];
    const result = await restartFleet(configOf(first), "new certificates", (line) =>
      lines.push(line),
    );
    assert.deepEqual(result, { num_instances: 2, num_workers: 2 });
    // It waits first for the lease of the one that was killed, unless that is over.
    const done = lines.filter((line) => !line.startsWith("waits: fleet:unanswered"));
    assert.deepEqual(
      done.map((line) => line.replace(/: .*(drains|is replaced).*/, " $1")),
      ["1 of 2 drains", "1 of 2 is replaced", "2 of 2 drains", "2 of 2 is replaced"],
    );
    const now = await Promise.all([first, second].map(workerOf));
    for (const [i, { pid, num_restarts }] of now.entries()) {
      assert.notEqual(pid, before[i]?.pid);
      assert.equal(num_restarts, 0);
    }
  });

  it("are neither restarted nor upgraded past a worker of a release that does not register", async () => {
    const neighbour = await others.neighbour();
    const { unregistered } = await read<FleetBody>(first, "/operator/fleet");
    assert.deepEqual(unregistered, [neighbour.nodeId]);
    const lines: string[] = [];
    await assert.rejects(
      restartFleet(configOf(first), "x", (line) => lines.push(line)),
      new RegExp(`fleet:unregistered .*${neighbour.nodeId}`),
    );
    assert.ok(lines.every((line) => line.startsWith("waits: fleet:unregistered")));
    assert.equal(lines.length, 1);
    await assert.rejects(finishUpgrade(redis), UpgradeOpen);
    await others.kill(neighbour);
    await eventually("it is forgotten", async () => {
      const fleet = await read<FleetBody>(first, "/operator/fleet");
      return fleet.unregistered.length === 0;
    });
  });

  it("refuse a third one with another secret, in one line", async () => {
    const dataDir = temporaryDataDir();
    const env = { ...settings(), APP_SECRET: "x".repeat(40), APP_SECRET_PREVIOUS: "y".repeat(40) };
    const { code, output } = await failToStart(serviceEnv(dataDir, env));
    rmSync(dataDir, { recursive: true });
    assert.equal(code, 1, output);
    const [line = "", ...rest] = output.split("\n").filter((one) => one !== "");
    assert.deepEqual(rest, []);
    assert.match(line, /^APP_SECRET and APP_SECRET_PREVIOUS are unknown to the instances/);
    assert.equal((await readFleet(redis)).length, 2);
  });

  it("are gone from the registry when they stop", async () => {
    const third = await start();
    assert.equal((await readFleet(redis)).length, 3);
    assert.equal(await third.stop(), 0);
    assert.equal((await readFleet(redis)).length, 2);
  });
});
