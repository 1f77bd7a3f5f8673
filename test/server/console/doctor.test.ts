import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import type { Finding, Verdict } from "../../../server/console/doctor/finding.ts";
import { fleetFindings } from "../../../server/console/doctor/fleet.ts";
import { openFilesFinding } from "../../../server/console/doctor/machine.ts";
import { postgresFindings, type PostgresFacts } from "../../../server/console/doctor/postgres.ts";
import { redisFindings } from "../../../server/console/doctor/redis.ts";
import { settingsFindings } from "../../../server/console/doctor/settings.ts";
import type { FleetProblem } from "../../../server/runtime/fleet/problems.ts";
import type { Config } from "../../../server/platform/config/config.ts";
import { parseConfig } from "../../../server/platform/config/config.ts";
import { silentLogger } from "../../../server/platform/log/logger.ts";
import { connectRedis, redisReady } from "../../../server/platform/redis/redis.ts";
import { serviceVersion } from "../../../server/platform/version.ts";
import type { InstanceEntry } from "../../../server/runtime/fleet/entry.ts";
import { joinFleet, leaveFleet } from "../../../server/runtime/fleet/registry.ts";
import { freePort } from "../../support/free-port.ts";
import { app, run, startsConsoleApp } from "./console-app.ts";

const production = parseConfig({
  APP_ENV: "production",
  APP_SECRET: randomBytes(32).toString("base64"),
  DATABASE_URL: "postgres://db.example/games",
  REDIS_URL: "redis://cache.example",
  PUBLIC_BASE_URL: "https://games.example",
  TRUSTED_PROXIES: "10.0.0.0/8",
  SMTP_URL: "smtp://mail.example",
  MAIL_FROM: "games@games.example",
  SMS_WEBHOOK_URL: "https://sms.example",
  OPERATOR_INBOX: "ops@games.example",
  GENERATOR_URL: "https://model.example",
  AVATAR_STORE: "https://id:key@pictures.example/avatars",
  HTTP_WORKERS: "1",
});

const redis = {
  maxmemory_policy: "noeviction",
  aof_enabled: "1",
  used_memory: "1000",
  maxmemory: "10000",
};
const redisWith = (own: Partial<typeof redis>, clockOffsetMs = 0) =>
  redisFindings({ info: new Map(Object.entries({ ...redis, ...own })), clockOffsetMs });

const postgres: PostgresFacts = {
  settings: {
    max_connections: "100",
    superuser_reserved_connections: "3",
    fsync: "on",
    full_page_writes: "on",
    synchronous_commit: "on",
    transaction_read_only: "off",
  },
  numForeign: 5,
  migrations: { pending: [], unknown: [] },
};
const postgresWith = (own: Partial<PostgresFacts["settings"]>, more: Partial<PostgresFacts> = {}) =>
  postgresFindings({ ...postgres, ...more, settings: { ...postgres.settings, ...own } }, [
    production,
    production,
  ]);

const workers = (num: number) => ({ num, numReady: num });
const instance = {
  ...{ host: "one", version: "1.0.0", ready: "ready", hasAvatarFolder: false },
  workers: { http: workers(2), jobs: workers(1) },
};
const fleet = (own: Partial<typeof instance>, ...problems: FleetProblem[]) =>
  fleetFindings([instance, { ...instance, ...own }], problems);
const problem = (kind: FleetProblem["kind"]): FleetProblem => ({
  kind,
  text: "it is wrong: do it",
});

/** Where nothing is wrong. */
const well: Finding[] = [
  ...settingsFindings(production),
  ...redisWith({}),
  ...postgresWith({}),
  ...fleet({}),
  openFilesFinding(524_288),
];

const settings = (own: Partial<Config>) => settingsFindings({ ...production, ...own });

/** What is wrong -> the check that finds it. */
const cases: readonly [what: string, check: string, Verdict, findings: Finding[]][] = [
  ["development", "environment", "problem", settings({ APP_ENV: "development" })],
  ["a secret from the keyboard", "secret", "problem", settings({ APP_SECRET: "qwerty".repeat(6) })],
  [
    "a bootstrap token",
    "bootstrap token",
    "warning",
    settings({ OPERATOR_BOOTSTRAP_TOKEN: "x".repeat(32) }),
  ],
  ["no public address", "public address", "problem", settings({ PUBLIC_BASE_URL: "" })],
  [
    "an address of this machine",
    "public address",
    "problem",
    settings({ PUBLIC_BASE_URL: "https://localhost" }),
  ],
  ["no proxy", "proxies", "warning", settings({ TRUSTED_PROXIES: "" })],
  ["everybody as proxy", "proxies", "problem", settings({ TRUSTED_PROXIES: "10.0.0.1,0.0.0.0/0" })],
  ["no mail server", "mail", "problem", settings({ SMTP_URL: "" })],
  ["a log instead of mails", "mail", "problem", settings({ MAIL_DRIVER: "log" })],
  ["a local sender", "mail sender", "problem", settings({ MAIL_FROM: "x <no-reply@localhost>" })],
  ["no text messages", "text messages", "warning", settings({ SMS_WEBHOOK_URL: "" })],
  ["no inbox", "contact messages", "warning", settings({ OPERATOR_INBOX: "" })],
  ["no language model", "questions", "warning", settings({ GENERATOR_URL: "" })],
  ["no notice before a stop", "stop", "warning", settings({ SHUTDOWN_DELAY_SECONDS: "0" })],
  ["more workers than cores", "workers", "warning", settings({ HTTP_WORKERS: 256 })],
  ["other limits", "limits", "warning", settings({ RATE_LIMIT_FACTOR: 2 })],
  ["no limits", "limits", "problem", settings({ RATE_LIMIT_FACTOR: 0 })],
  ["shown causes", "log", "problem", settings({ APP_DEBUG: true })],
  ["a silent log", "log", "warning", settings({ LOG_LEVEL: "silent" })],
  ["few open files", "open files", "warning", [openFilesFinding(1_024)]],
  ["eviction", "Redis eviction", "problem", redisWith({ maxmemory_policy: "allkeys-lru" })],
  ["no append-only file", "Redis persistence", "problem", redisWith({ aof_enabled: "0" })],
  ["Redis without a limit", "Redis memory", "warning", redisWith({ maxmemory: "0" })],
  ["a full Redis", "Redis memory", "warning", redisWith({ used_memory: "9000" })],
  ["a clock ahead", "clock", "problem", redisWith({}, 700)],
  ["a clock behind", "clock", "problem", redisWith({}, -700)],
  ["few connections", "Postgres connections", "problem", postgresWith({ max_connections: "50" })],
  ["no fsync", "Postgres durability", "problem", postgresWith({ fsync: "off" })],
  ["a standby", "Postgres writes", "problem", postgresWith({ transaction_read_only: "on" })],
  [
    "a pending migration",
    "migrations",
    "problem",
    postgresWith({}, { migrations: { pending: ["Migration1"], unknown: [] } }),
  ],
  [
    "a newer release",
    "migrations",
    "warning",
    postgresWith({}, { migrations: { pending: [], unknown: ["Migration9"] } }),
  ],
  ["no instance", "fleet", "problem", fleetFindings([], [])],
  ["an instance that stops", "instances", "warning", fleet({ ready: "stopping" })],
  ["two versions", "versions", "warning", fleet({ version: "1.1.0" })],
  ["two secrets", "secrets of the fleet", "problem", fleet({}, problem("secrets"))],
  ["differing clocks", "clocks of the fleet", "problem", fleet({}, problem("clocks"))],
  ["jobs with local files", "imports", "problem", fleet({}, problem("local-imports"))],
  [
    "folders for avatars of two instances",
    "avatars",
    "problem",
    fleet({}, problem("avatar-folder")),
  ],
  [
    "a folder for avatars",
    "avatars",
    "warning",
    fleetFindings([{ ...instance, hasAvatarFolder: true }], []),
  ],
  ["one instance", "processes", "warning", fleetFindings([instance], [])],
  [
    "no job worker",
    "processes",
    "problem",
    fleetFindings([{ ...instance, workers: { http: workers(2), jobs: workers(0) } }], []),
  ],
];

const isWrong = ({ verdict }: Finding) => verdict !== "ok";

describe("the console's doctor", () => {
  it("finds nothing wrong where everything is as it should be", () => {
    assert.deepEqual(well.filter(isWrong), []);
  });

  for (const [what, check, verdict, findings] of cases)
    it(`finds ${what}, and says what to do`, () => {
      const wrong = findings.filter((one) => one.check === check && isWrong(one));
      assert.deepEqual(
        wrong.map((one) => one.verdict),
        [verdict],
      );
      for (const { found, todo } of wrong)
        for (const text of [found, todo]) assert.match(text, /^[^\n]+$/);
    });

  it("tries every check in a case, or not at all", () => {
    const tried = new Set(cases.map(([, check]) => check));
    assert.deepEqual(
      well.map(({ check }) => check).filter((check) => !tried.has(check)),
      [],
    );
  });

  describe("on a running instance", () => {
    startsConsoleApp();

    const checksOf = async (own: Partial<Config> = {}) => {
      const { checks, ...counts } = await run("doctor", {}, own);
      return { byName: new Map((checks as Finding[]).map((one) => [one.check, one])), counts };
    };

    it("asks its probe and its stores", async () => {
      const probe = createServer((request, response) => {
        response.statusCode = request.url === "/ready" ? 200 : 404;
        response.end("ready");
      }).listen(0, "127.0.0.1");
      await once(probe, "listening");
      const { port } = probe.address() as AddressInfo;
      const { byName, counts } = await checksOf({ PORT: port });
      probe.close();
      for (const check of ["ready", "Redis", "Postgres", "Postgres writes", "migrations", "clock"])
        assert.equal(byName.get(check)?.verdict, "ok", check);
      assert.ok(Number(counts["num_problems"]) > 0, "development is no production");
    });

    it("compares the registered instances", async () => {
      const redis = connectRedis(app.stores.redisUrl, silentLogger, "test");
      await redisReady(redis);
      const workers = { num: 2, numReady: 2 };
      const entry: InstanceEntry = {
        ...{ version: serviceVersion, commit: "unknown", build: "sources", environment: "test" },
        ...{ host: "one", pid: 1, publicAddress: "", operatorAddress: "", startedAt: 0 },
        ...{ ready: "ready", workers: { http: workers, jobs: workers }, nodes: [] },
        figures: { numStreams: 0, numRooms: 0, memoryBytes: 0, loopLagMs: null },
        ...{ clockOffsetMs: 0, hasAvatarFolder: false, hasImportFolder: false },
        secrets: ["new", "old"],
      };
      await joinFleet(redis, "one", entry);
      await joinFleet(redis, "two", { ...entry, clockOffsetMs: 900, secrets: ["old"] });
      const { byName } = await checksOf();
      for (const id of ["one", "two"]) await leaveFleet(redis, id);
      redis.disconnect();
      assert.equal(byName.get("fleet")?.found, "2 instances registered");
      for (const check of ["secrets of the fleet", "clocks of the fleet"])
        assert.equal(byName.get(check)?.verdict, "problem", check);
      assert.match(byName.get("Postgres connections")?.found ?? "", /of 2 instances/);
    });

    it("reports a store and an instance that do not answer", async () => {
      const port = await freePort();
      const { byName } = await checksOf({
        PORT: port,
        REDIS_URL: `redis://127.0.0.1:${port}`,
        DATABASE_URL: `postgres://x@127.0.0.1:${port}/x`,
      });
      for (const check of ["ready", "Redis", "Postgres"])
        assert.equal(byName.get(check)?.verdict, "problem", check);
    });
  });
});
