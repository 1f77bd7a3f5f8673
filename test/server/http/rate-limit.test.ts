import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Redis } from "ioredis";
import { pino } from "pino";
import { RateLimiter } from "../../../server/http/limits/rate-limit.ts";
import type { Occurrence } from "../../../server/platform/faults/batch.ts";
import { systemClock } from "../../../server/platform/time/clock.ts";
import { AppError } from "../../../server/platform/errors.ts";
import { createClient, type Client } from "../../support/client.ts";
import { eventually } from "../../support/eventually.ts";
import { codeOf, errorOf } from "./answers.ts";
import { about, ByCode, defineRoute } from "./sample-parts.ts";
import { sampleRoutes } from "./sample-routes.ts";
import { startSample, type SampleOptions, type SampleServer } from "./sample.ts";

const proxied = { TRUSTED_PROXIES: "127.0.0.1/32" };

/** Each test uses its own address and therefore its own windows. */
let lastAddress = 0;
const newAddress = () => `203.0.113.${(lastAddress += 1)}`;

async function withServer(
  options: Partial<SampleOptions>,
  use: (sample: SampleServer, client: Client) => Promise<void>,
) {
  const sample = await startSample({
    routes: sampleRoutes,
    ...options,
    env: { ...proxied, ...options.env },
  });
  try {
    await use(sample, createClient(sample.url, sampleRoutes));
  } finally {
    await sample.stop();
  }
}

let sample: SampleServer;
let client: Client;
const from = (ip: string) => ({ "x-forwarded-for": ip });
const body = { name: "x" };

describe("a rate limit", () => {
  before(async () => {
    sample = await startSample({ routes: sampleRoutes, env: proxied });
    client = createClient(sample.url, sampleRoutes);
  });
  after(() => sample.stop());

  describe("counts callers", () => {
    test("counts a guess of a known player without a seat whose client disconnects", async () => {
      const begun = Promise.withResolvers<void>();
      const gone = Promise.withResolvers<void>();
      const guess = defineRoute({
        ...about,
        method: "GET",
        path: "/v1/lobbies/{code}/guess",
        auth: "seat",
        room: "lobby",
        params: ByCode,
        guessable: { kind: "lobby", misses: ["lobby:not_found"] },
        responses: { 200: null },
        errors: ["lobby:not_found"],
        handler: async () => {
          begun.resolve();
          await gone.promise;
          throw new AppError("lobby:not_found");
        },
      });
      await withServer({ routes: [guess] }, async ({ url, token, server, deps }) => {
        const abort = new AbortController();
        const headers = { ...from("203.0.113.1"), authorization: `Bearer ${token(7)}` };
        const answer = fetch(`${url}/v1/lobbies/ABCDEF/guess`, { headers, signal: abort.signal });
        await begun.promise;
        abort.abort();
        await assert.rejects(answer);
        await eventually("the client is gone", () => server.inFlight() === 0);
        gone.resolve();
        await eventually("the guess is counted", async () =>
          Boolean(await deps.redis.get("limit:misses:lobby:203.0.113.1")),
        );
      });
    });

    test("allows exactly its number of simultaneous requests", async () => {
      const headers = from(newAddress());
      const calls = Array.from({ length: 20 }, () => client.post("/v1/limited", { body, headers }));
      const statuses = (await Promise.all(calls)).map((answer) => answer.status);
      assert.equal(statuses.filter((status) => status === 200).length, 3);
      assert.equal(statuses.filter((status) => status === 429).length, 17);
    });

    test("counts a player once, whichever way its proxies write the address", async () => {
      const ip = newAddress();
      const forms = [`${ip}:4711`, `"${ip}:80"`, `[::ffff:${ip}]:443`, `1.1.1.1, ${ip}`];
      const statuses: number[] = [];
      for (const form of forms)
        statuses.push((await client.post("/v1/limited", { body, headers: from(form) })).status);
      assert.deepEqual(statuses, [200, 200, 200, 429]);
      const other = await client.post("/v1/limited", {
        body,
        headers: from(`${newAddress()}:4711`),
      });
      assert.equal(other.status, 200);
    });

    test("refuses a counted request whose proxy hides the client address, and logs that", async () => {
      const warnings: string[] = [];
      const log = pino({ level: "warn" }, { write: (line: string) => void warnings.push(line) });
      const open = (ip: string, path = "/v1/limited") => ({
        path,
        call: { body, headers: from(ip) },
      });
      await withServer({ log }, async (own, caller) => {
        for (const hop of ["unknown", "_hidden", "1.1.1.1, garbage"]) {
          const { path, call } = open(hop);
          const answer = await caller.post(path, call);
          assert.equal(codeOf(answer), "request:malformed_url", hop);
          assert.deepEqual(errorOf(answer).params, { header: "X-Forwarded-For" });
        }
        assert.match(warnings[0] ?? "", /"proxy":"127.0.0.1","forwardedFor":"unknown"/);
        // A caller counted as a player needs no address, and neither does an uncounted request.
        const headers = { ...from("unknown"), authorization: `Bearer ${own.token(7)}` };
        assert.equal((await caller.post("/v1/account-limited", { headers })).status, 200);
        assert.equal((await caller.post("/v1/echo", { body, headers })).status, 200);
      });
    });
  });
  describe("reports the remaining requests", () => {
    test("reports the remaining requests and when to retry", async () => {
      const headers = from(newAddress());
      const first = await client.post("/v1/limited", { body, headers });
      const names = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"];
      assert.deepEqual(
        names.map((name) => first.headers.get(name)),
        ["3", "2", "60"],
      );
      await client.post("/v1/limited", { body, headers });
      await client.post("/v1/limited", { body, headers });
      const refused = await client.post("/v1/limited", { body, headers });
      assert.equal(codeOf(refused), "rate_limit:exceeded");
      const wait = Number(refused.headers.get("retry-after"));
      assert.ok(wait >= 55 && wait <= 60);
      assert.deepEqual(errorOf(refused).params, { retry_after: wait });
    });

    test("counts failed requests of a public endpoint", async () => {
      const headers = from(newAddress());
      await client.post("/v1/limited", { body: {}, headers });
      await client.post("/v1/limited", {
        body: "{",
        headers: { ...headers, "content-type": "application/json" },
      });
      const third = await client.post("/v1/limited", {
        body: "x",
        headers: { ...headers, "content-type": "text/plain" },
      });
      assert.equal(third.status, 415);
      assert.equal((await client.post("/v1/limited", { body, headers })).status, 429);
    });

    test("counts requests refused for their origin, content type or size, also on sign-in routes", async () => {
      const headers = from(newAddress());
      const send = (given: unknown, more: Record<string, string> = {}) =>
        client.post("/v1/limited-page", { body: given, headers: { ...headers, ...more } });
      const page = { cookie: "svc_refresh=x", origin: "https://evil.example" };
      const refused = [
        await send(body, page),
        await send("name=x", { "content-type": "application/x-www-form-urlencoded" }),
        await send({ name: "x".repeat(66_000) }),
      ];
      assert.deepEqual(
        refused.map(({ status, headers: of }) => [status, of.get("x-ratelimit-remaining")]),
        [
          [403, "2"],
          [415, "1"],
          [413, "0"],
        ],
      );
      assert.equal((await send(body)).status, 429);
    });
  });
  describe("is shared by all callers", () => {
    test("is shared by all spellings of a path, and by HEAD", async () => {
      const headers = from(newAddress());
      await client.get("/v1/limited-read/", { headers });
      await client.head("/v1/limited%2Dread", { headers });
      assert.equal((await client.get("/v1/limited-read", { headers })).status, 429);
    });

    test("per account follows the player to another address", async () => {
      const token = sample.token(11);
      for (let i = 0; i < 2; i++)
        assert.equal(
          (await client.post("/v1/account-limited", { token, headers: from(newAddress()) })).status,
          200,
        );
      assert.equal(
        (await client.post("/v1/account-limited", { token, headers: from(newAddress()) })).status,
        429,
      );
      assert.equal(
        (await client.post("/v1/account-limited", { token: sample.token(12) })).status,
        200,
      );
    });

    test("of other writes is 60 per address and 300 per player, also on routes without sign-in", async () => {
      for (const path of ["/v1/write", "/v1/open-write"]) {
        const limitFor = async (credential: { token?: string }) => {
          const answer = await client.post(path, { ...credential, headers: from(newAddress()) });
          return answer.headers.get("x-ratelimit-limit");
        };
        assert.equal(await limitFor({}), "60");
        assert.equal(await limitFor({ token: "none" }), "60");
        assert.equal(await limitFor({ token: sample.token(13) }), "300");
      }
      assert.equal((await client.get("/v1/ping")).headers.get("x-ratelimit-limit"), null);
    });

    test("is shared by all workers", async () => {
      const headers = from(newAddress());
      const other = await startSample({ routes: sampleRoutes, env: proxied, besides: sample });
      try {
        const otherClient = createClient(other.url, sampleRoutes);
        for (const one of [client, otherClient, client])
          assert.equal((await one.post("/v1/limited", { body, headers })).status, 200);
        assert.equal((await otherClient.post("/v1/limited", { body, headers })).status, 429);
      } finally {
        await other.stop();
      }
    });

    test("ends with its window even when the counter has lost its expiry", async () => {
      const ip = newAddress();
      const key = `limit:POST /v1/limited:${ip}`;
      await sample.deps.redis.set(key, "3");
      assert.equal((await client.post("/v1/limited", { body, headers: from(ip) })).status, 429);
      assert.ok((await sample.deps.redis.pttl(key)) > 0);
    });
  });
});

test("is multiplied by the configured factor, and 0 disables it", async () => {
  await withServer({ env: { RATE_LIMIT_FACTOR: "2.5" } }, async (_sample, client) => {
    const answer = await client.post("/v1/limited", { body: { name: "x" } });
    assert.equal(answer.headers.get("x-ratelimit-limit"), "7");
  });
  await withServer({ env: { RATE_LIMIT_FACTOR: "0" } }, async (_sample, client) => {
    for (let i = 0; i < 5; i++)
      assert.equal((await client.post("/v1/limited", { body: { name: "x" } })).status, 200);
  });
});

test("still counts, per process, while Redis is unavailable", async () => {
  await withServer({}, async (sample, client) => {
    const send = () => client.post("/v1/limited", { body: { name: "x" } });
    await sample.store.kill();
    const statuses: number[] = [];
    for (let i = 0; i < 4; i++) statuses.push((await send()).status);
    assert.deepEqual(statuses, [200, 200, 200, 429]);
  });
});

test("records as degraded, once per pause, that it counts per process", async () => {
  const occurrences: Occurrence[] = [];
  const limiter = new RateLimiter({
    redis: { evalsha: () => Promise.reject(new Error("away")) } as unknown as Redis,
    clock: systemClock,
    faults: { record: (occurrence) => void occurrences.push(occurrence) },
  });
  const limit = { id: "a", per: "ip", windowMs: 60_000, anonymousMax: 3, playerMax: 3 } as const;
  for (let n = 0; n < 3; n++) await limiter.count(limit, "127.0.0.1", null);
  assert.deepEqual(
    occurrences.map(({ kind, place }) => [kind, place]),
    [["degraded", "rate-limit"]],
  );
});
