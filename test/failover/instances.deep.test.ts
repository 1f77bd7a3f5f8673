import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Redis } from "ioredis";
import { playGame } from "../support/game.ts";
import { newPlayer } from "../support/player.ts";
import { startService, type Process, type Service } from "../support/process.ts";
import { testStores, type TestStores } from "../support/stores.ts";
import { eventually } from "../support/eventually.ts";
import { Neighbours } from "../support/neighbours.ts";

/** Two services with separate folders, ports and processes share one Postgres and one Redis. */
describe("two instances", () => {
  let stores: TestStores;
  let redis: Redis;
  let rooms: Neighbours;
  let first: Service;
  let second: Service;

  const start = (jobWorkers: number) =>
    startService({
      env: {
        DATABASE_URL: stores.databaseUrl,
        REDIS_URL: stores.redisUrl,
        HTTP_WORKERS: "1",
        JOB_WORKERS: String(jobWorkers),
        RATE_LIMIT_FACTOR: "0",
        LOBBY_MIN_QUESTION_MS: "0",
      },
    });
  before(async () => {
    stores = await testStores();
    redis = new Redis({ path: stores.redisUrl.replace("unix://", "") });
    redis.on("error", () => {});
    rooms = new Neighbours(redis, stores.redisUrl);
    [first, second] = await Promise.all([start(1), start(0)]);
  });
  after(async () => {
    await Promise.all([first.stop(), second.stop()]);
    redis.disconnect();
    await stores.stop();
  });

  /** None while its operator listener does not answer. */
  const workersOf = async (service: Service): Promise<Process[]> =>
    (await service.processes().catch(() => [])).filter(({ role }) => role === "http");

  async function sharesOf(services: Service[]): Promise<number[]> {
    const owners = await rooms.owners();
    const workers = await Promise.all(services.map(workersOf));
    return workers.map(
      (own) =>
        owners.filter((owner) => own.some((w) => owner?.startsWith(`${w.incarnation}|`))).length,
    );
  }

  /** Players call both instances, but subscribe to the one that stays. */
  async function playWhile(name: string, injectFault: () => Promise<void>): Promise<void> {
    let isInjected = false;
    const games = Array.from({ length: 4 }, async (_, i) => {
      const urls = [first.url, second.url];
      const players = await Promise.all(
        [1, 2].map((seat) => newPlayer(urls, `${name} ${i} player ${seat}`, first.url)),
      );
      return playGame(players, {
        mode: i % 2 === 0 ? "coop" : "versus",
        questions: 3,
        injectFault: async (question) => {
          if (question !== 1 || isInjected) return;
          isInjected = true;
          await injectFault();
        },
      });
    });
    const finals = await Promise.all(games);
    assert.ok(isInjected);
    for (const { status } of finals) assert.equal(status, "finished");
  }

  it("share the lobbies, and players of one instance reach lobbies of the other", async () => {
    await eventually("both have their part", async () => {
      const [a = 0, b = 0] = await sharesOf([first, second]);
      return a > 300 && b > 300 && a + b === 1024;
    });
    await playWhile("Shared", async () => {});
  });

  it("lose nothing when one stops in order in the middle of games", async () => {
    await playWhile("Stopped", async () => {
      assert.equal(await second.stop("SIGTERM"), 0);
    });
    assert.deepEqual(await sharesOf([first]), [1024]);
  });

  it("lose nothing when every process of one is killed at once in the middle of games", async () => {
    second = await start(0);
    await eventually("it joined", async () => ((await sharesOf([first, second]))[1] ?? 0) > 300);
    await playWhile("Killed", async () => {
      const pids = (await second.processes()).map(({ pid }) => pid);
      for (const pid of [second.pid, ...pids]) process.kill(pid, "SIGKILL");
      await second.kill();
    });
    // A silent death is detected later than a game may last whose lobby was unreachable.
    await eventually("the other has everything", async () => (await sharesOf([first]))[0] === 1024);
  });
});
