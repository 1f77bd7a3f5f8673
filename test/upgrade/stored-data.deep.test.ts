import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { Queue } from "bullmq";
import { Redis } from "ioredis";
import { withDatabase } from "../../server/platform/postgres/database-url.ts";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { withClient } from "../../server/runtime/stores/postgres.ts";
import { startLocalRedis, type LocalRedis } from "../../server/runtime/stores/redis.ts";
import { eventually } from "../support/eventually.ts";
import { startService, temporaryDataDir, type Service } from "../support/process.ts";
import { startTestPostgres, type TestPostgres } from "../support/stores.ts";
import { bearer, call } from "./api.ts";
import { authorize, exchange } from "./code-flow.ts";
import { restoreDatabase, restoreRedis } from "./dump.ts";
import { readStored, storySettings } from "./stored.ts";
import {
  askGame,
  hostOf,
  credentialsOf,
  playRounds,
  readAll,
  readGame,
  startGame,
  type RecordedResponses,
} from "./story.ts";

const earlierClock = new URL("./earlier-clock.mjs", import.meta.url).href;
let postgres: TestPostgres;
let redis: LocalRedis;
let service: Service;
let databaseUrl = "";
let url = "";
const { recordedAt, told, dump } = readStored();
const folder = mkdtempSync(join(tmpdir(), "ember-rd-"));
const dataDir = temporaryDataDir();

const who = async (access: string) => {
  const { body } = await call(url, "GET /v1/tokens/validate", { headers: bearer(access) });
  return JSON.stringify(body);
};

/** Without the effects of the result waiting in the queue: entries of its players, and ranks. */
function withoutWaiting(body: unknown): unknown {
  const board = body as { entries?: { player_id?: number }[]; player_rank?: unknown };
  if (!Array.isArray(board.entries)) return body;
  const changed: readonly (number | undefined)[] = told.ended.players;
  return board.entries
    .filter((entry) => !changed.includes(entry.player_id))
    .map((entry) => ({ ...entry, rank: 0, rank_prev: 0 }));
}

describe("the service on data stored by the previous release", () => {
  before(async () => {
    const shared = process.env["TEST_DATABASE_URL"];
    postgres = shared ? { url: shared, stop: async () => {} } : await startTestPostgres();
    const name = `t_upgrade_${process.pid}`;
    await withClient(postgres.url, (client) => client.query(`create database ${name}`));
    databaseUrl = withDatabase(postgres.url, name);
    await restoreDatabase(databaseUrl, dump);
    const log = silentLogger;
    redis = await startLocalRedis({
      dataDir: join(folder, "d"),
      socketDir: join(folder, "s"),
      log,
    });
    await restoreRedis(redis.url, dump.keys);
    for (const [file, content] of Object.entries(dump.files)) {
      mkdirSync(dirname(join(dataDir, file)), { recursive: true });
      writeFileSync(join(dataDir, file), Buffer.from(content, "base64"));
    }
    service = await startService({
      dataDir,
      env: {
        ...storySettings,
        DATABASE_URL: databaseUrl,
        REDIS_URL: redis.url,
        // Tokens, games and challenges of the recording expire by its clock.
        CLOCK_FROM: String(recordedAt),
        CLOCK_SINCE: String(Date.now()),
        NODE_OPTIONS: `--import=${earlierClock}`,
      },
    });
    ({ url } = service);
  });
  after(async () => {
    await service?.stop();
    await redis.stop();
    await withClient(postgres.url, (client) =>
      client.query(`drop database t_upgrade_${process.pid} with (force)`),
    );
    await postgres.stop();
    for (const dir of [folder, dataDir]) rmSync(dir, { recursive: true, force: true });
  });

  describe("serves the stored data", () => {
    it("returns the same responses as before", async () => {
      const { run, reads } = told;
      const present = await readAll(url, told.second, run.id, run.challengeId);
      for (const [path, body] of Object.entries(reads))
        assert.deepEqual(withoutWaiting(present[path]), withoutWaiting(body), path);
    });

    it("accepts access tokens of accounts and of guests", async () => {
      for (const { access, id } of [told.ada, told.guest, told.upgraded])
        assert.match(await who(access), new RegExp(`\\b${id}\\b`));
    });
  });
  describe("continues work in progress", () => {
    it("continues waiting and running games, and repeats a stored answer", async () => {
      const { running, waiting, repeat } = told;
      const before = await readGame(url, running);
      assert.deepEqual([before.status, before.current_index], ["in_progress", 1]);
      const headers = {
        "x-lobby-token": hostOf(running).token,
        "idempotency-key": repeat.key,
      };
      const again = await call(url, repeat.path, { body: repeat.body, headers });
      assert.deepEqual(again.body, repeat.said);
      const [, guest] = running.seats;
      assert.ok(guest);
      const answer = { selected_index: 0, time_taken_ms: 800, index: 1 };
      await askGame(url, running, guest, "answer", answer);
      await askGame(url, running, hostOf(running), "next", { index: 1 });
      await playRounds(url, running, 2, 4);
      await startGame(url, waiting);
      await playRounds(url, waiting, 0, 3);
      for (const game of [running, waiting])
        assert.equal((await readGame(url, game)).status, "finished");
      await eventually("all results are stored", async () => {
        const codes = [running.code, waiting.code, told.ended.code];
        const { rowCount } = await withClient(databaseUrl, (client) =>
          client.query("select from lobby_results where code = any($1)", [codes]),
        );
        return rowCount === codes.length;
      });
    });

    it("runs waiting jobs, and keeps the failed one", async () => {
      await eventually("the picture is moderated", async () => {
        const { rows } = await withClient(databaseUrl, (client) =>
          client.query<{ status: string }>("select status from avatar_uploads where id = $1", [
            told.upload,
          ]),
        );
        return rows[0] !== undefined && rows[0].status !== "queued";
      });
      const connection = new Redis({ path: redis.url.replace("unix://", "") });
      const queue = new Queue("lobby-results", { connection, prefix: "jobs" });
      assert.equal(await queue.getJobState(told.failedJob), "failed");
      await queue.close();
      connection.disconnect();
    });

    it("continues a run of today's challenge", async () => {
      const headers = bearer(told.ada.access);
      const path = `/v1/games/trivia/runs/${told.run.id}`;
      assert.deepEqual((await call(url, `GET ${path}`, { headers })).body, told.run.state);
      await call(url, `POST ${path}/advance`, { headers });
      const body = { selected_index: 2, time_taken_ms: 900 };
      await call(url, `POST ${path}/answer`, { body, headers });
    });
  });
  describe("accepts existing credentials", () => {
    it("accepts API keys, and both secrets of an OAuth client", async () => {
      const key = { "x-api-key": told.key.plaintext };
      await call(url, "GET /v1/games/trivia/state", { headers: key });
      const { client } = told;
      const info = await call(url, "GET /v1/oauth/userinfo", { headers: bearer(client.access) });
      assert.equal(info.body["sub"], String(told.ada.id));
      const renewed = await exchange(url, client, {
        grant_type: "refresh_token",
        refresh_token: client.refresh,
      });
      await call(url, "GET /v1/oauth/userinfo", { headers: bearer(renewed.access) });
      await authorize(url, client, told.ada.access);
    });

    it("renews sessions, restores guests, and lets accounts sign in", async () => {
      const renew = async ({ refresh }: RecordedResponses["second"]) =>
        credentialsOf(
          await call(url, "POST /v1/gateway/refresh", { body: { refresh_token: refresh } }),
        );
      assert.equal((await renew(told.second)).id, told.ada.id);
      assert.equal((await renew(told.guest)).id, told.guest.id);
      const reclaimed = await call(url, "POST /v1/gateway/guest", {
        body: { reclaimToken: told.guest.reclaim },
      });
      assert.equal(credentialsOf(reclaimed).id, told.guest.id);
      for (const { email, password, id } of [told.ada, told.upgraded]) {
        const body = { identifier: email, password };
        assert.equal(credentialsOf(await call(url, "POST /v1/gateway/login", { body })).id, id);
      }
    });

    it("lets a player join a stored team", async () => {
      const headers = bearer(told.guest.access);
      const body = { join_code: told.joinCode };
      const { body: joined } = await call(url, "POST /v1/games/trivia/teams/join", {
        body,
        headers,
      });
      assert.equal((joined["team"] as { num_members: number }).num_members, 3);
    });
  });
});
