import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { after, before, describe, it } from "node:test";
import type { Redis } from "ioredis";
import { readMigrations } from "../../db/migrate.ts";
import { createOrm } from "../../db/orm.ts";
import { withDatabase } from "../../server/platform/postgres/database-url.ts";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { connectRedis, redisReady } from "../../server/platform/redis/redis.ts";
import { finishUpgrade, UpgradeOpen } from "../../server/runtime/boot/release-order.ts";
import { finishedKey } from "../../server/runtime/fleet/registry.ts";
import { withClient } from "../../server/runtime/stores/postgres.ts";
import { eventually } from "../support/eventually.ts";
import {
  failToStart,
  serviceEnv,
  startService,
  temporaryDataDir,
  type Service,
} from "../support/process.ts";
import { lastRelease, unpackRelease } from "../support/releases.ts";
import { testStores, type TestStores } from "../support/stores.ts";
import { bearer, call, type Headed } from "./api.ts";

const pauseMs = 20;
const maxFailures = 10;
const lobbies = "/v1/games/trivia/lobbies";

/** Callers that ask one service or several in turn, without retries. */
class Callers {
  readonly failures: string[] = [];
  #urls: readonly string[] = [];
  #turn = 0;
  #answered = 0;
  #isOver = false;
  #code = "";
  #headers: Headed = {};
  #ended: Promise<void> | null = null;

  async start(url: string): Promise<void> {
    this.#urls = [url];
    const guest = await call(url, "POST /v1/gateway/guest", { body: {} });
    const headers = bearer(String(guest.body["access_token"]));
    const body = { hostName: "Ada", mode: "versus", numQuestions: 5 };
    const opened = await call(url, `POST ${lobbies}`, { body, headers });
    this.#headers = { ...headers, "x-lobby-token": String(opened.body["player_token"]) };
    this.#code = (opened.body["lobby"] as { code: string }).code;
    this.#ended = this.#run();
  }

  /** Asks these from now on; resolves when each has answered a dozen requests. */
  async ask(...services: readonly Service[]): Promise<void> {
    this.#urls = services.map(({ url }) => url);
    const wanted = this.#answered + 12 * 4 * services.length;
    await eventually("requests are answered", () => this.#answered >= wanted, 60_000);
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#ended;
  }

  async #run(): Promise<void> {
    const headers = this.#headers;
    const requests: [request: string, body?: unknown][] = [
      ["POST /v1/gateway/guest", {}],
      ["GET /v1/games/trivia/leaderboard"],
      [`GET ${lobbies}/${this.#code}`],
      ["GET /v1/wallet/@me"],
    ];
    while (!this.#isOver) {
      for (const [request, body] of requests) {
        const url = this.#urls[(this.#turn += 1) % this.#urls.length] ?? "";
        await call(url, request, { headers: body ? {} : headers, ...(body ? { body } : {}) }).then(
          () => (this.#answered += 1),
          (error: unknown) => {
            if (this.failures.length < maxFailures) this.failures.push(`${url} ${String(error)}`);
          },
        );
      }
      // One more than the number of services, so that each gets each request.
      this.#turn += 1;
      await pause(pauseMs);
    }
  }
}

describe("an upgrade from the last release beside running requests, and back", () => {
  const release = lastRelease();
  const database = `rolling_${process.pid}`;
  const running = new Set<Service>();
  const callers = new Callers();
  let stores: TestStores;
  let root = "";
  let env: Record<string, string> = {};
  let former: Service;

  before(async () => {
    root = unpackRelease(release);
    stores = await testStores();
    env = {
      DATABASE_URL: withDatabase(stores.databaseUrl, database),
      REDIS_URL: stores.redisUrl,
      RATE_LIMIT_FACTOR: "0",
    };
    former = await start({ root });
    await callers.start(former.url);
  });
  after(async () => {
    await callers.stop();
    for (const service of running) await service.stop();
    await withClient(stores.databaseUrl, (client) =>
      client.query(`drop database if exists ${database} with (force)`),
    );
    await stores.stop();
    rmSync(root, { recursive: true, force: true });
  });

  async function start(options: { root?: string }): Promise<Service> {
    const service = await startService({ env, ...options });
    running.add(service);
    return service;
  }

  async function stop(service: Service): Promise<void> {
    running.delete(service);
    assert.equal(await service.stop(), 0);
  }

  /** What a start that must fail prints. */
  async function refusal(settings: Record<string, string>): Promise<string> {
    const folder = temporaryDataDir();
    try {
      const { code, output } = await failToStart(serviceEnv(folder, { ...env, ...settings }));
      assert.equal(code, 1, output);
      return output;
    } finally {
      rmSync(folder, { recursive: true });
    }
  }

  async function withRedis(work: (redis: Redis) => Promise<void>): Promise<void> {
    const redis = connectRedis(stores.redisUrl, silentLogger, "test");
    try {
      await redisReady(redis);
      await work(redis);
    } finally {
      redis.disconnect();
    }
  }

  const pending = async () => {
    const orm = await createOrm({ DATABASE_URL: env["DATABASE_URL"] ?? "", DATABASE_POOL: 1 });
    try {
      return (await readMigrations(orm)).pending;
    } finally {
      await orm.close(true);
    }
  };

  it(`goes from ${release.version} to this one and back without a failed request`, async () => {
    await callers.ask(former);
    const left = await pending();
    if (left.length > 0) {
      const output = await refusal({ MIGRATE_ON_START: "false" });
      assert.match(output, new RegExp(`${left.length} pending, from ${left[0]}`));
      assert.deepEqual(await pending(), left);
    }
    const present = await start({});
    // It does not register, and is known by the heartbeats of its workers.
    await withRedis((redis) => assert.rejects(finishUpgrade(redis), UpgradeOpen));
    assert.deepEqual(await pending(), []);
    await callers.ask(former, present);
    await callers.ask(present);
    await stop(former);
    await callers.ask(present);
    former = await start({ root });
    await callers.ask(former, present);
    await callers.ask(former);
    await stop(present);
    await callers.ask(former);
    assert.deepEqual(callers.failures, []);
  });

  it("is refused on the stores of a release before the last one", async () => {
    await withRedis(async (redis) => {
      const former = await redis.set(finishedKey, "0.0.1", "GET");
      assert.match(await refusal({}), /^release \S+ follows \S+, and the stores are of 0\.0\.1: /m);
      await redis.set(finishedKey, former ?? "");
    });
  });
});
