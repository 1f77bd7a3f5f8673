import assert from "node:assert/strict";
import { Agent, request } from "node:http";
import { after, before, describe, it } from "node:test";
import { parseDatabaseUrl } from "../../../server/platform/postgres/database-url.ts";
import { eventually } from "../../support/eventually.ts";
import { freePort } from "../../support/free-port.ts";
import { createLobby, newPlayer } from "../../support/player.ts";
import { startService, type Service } from "../../support/process.ts";
import { startProxy, type Proxy } from "../../support/proxy.ts";
import { acquireRedis, type TestRedis } from "../../support/redis-server.ts";
import { testDatabase } from "../../support/stores.ts";

/** What a page shows while a part is away: words that remain, or what it shows besides saying that it is unknown. */
type Expected = string | { unknown: string };
interface Shown {
  status: number;
  text: string;
}
interface PageCase {
  path: string;
  redis: Expected;
  postgres: Expected;
  primary: Expected;
}

type Part = "redis" | "postgres" | "primary";
const nameOf: Readonly<Record<Part, string>> = {
  redis: "Redis",
  postgres: "Postgres",
  primary: "The primary process",
};
interface Group {
  place: string;
  code: string;
  peer: string;
}
interface Given {
  postgres: Proxy;
  redis: Proxy;
  service: Service;
}

/** Freezes a part until it has been noticed; returns what brings it back. */
const outages: Readonly<Record<Part, (given: Given) => Promise<() => void>>> = {
  redis: async ({ redis }) => {
    await redis.holdAnswers("");
    return redis.release;
  },
  postgres: async ({ postgres }) => {
    await postgres.holdAnswers("");
    return postgres.release;
  },
  primary: async ({ service }) => {
    process.kill(service.pid, "SIGSTOP");
    return () => process.kill(service.pid, "SIGCONT");
  },
};

function check(path: string, shown: Shown | undefined, name: string, expected: Expected): void {
  const text = shown?.text ?? "";
  const main = text.slice(text.indexOf("<main")).replaceAll(/<[^>]*>/g, " ");
  const words = main.replaceAll(/\s+/g, " ");
  const isWhole = typeof expected === "string";
  const facts = { path, status: shown?.status, words: words.slice(0, 1_000) };
  const says = isWhole ? "are unknown until it does." : "this page cannot show";
  const wanted = [`${name} has not responded since 20`, says, "This page renews itself."];
  const rest = isWhole ? expected : expected.unknown;
  for (const one of [...wanted, rest])
    assert.ok(words.includes(one), JSON.stringify({ ...facts, one }));
  assert.equal(words.includes("Unknown now"), !isWhole, JSON.stringify(facts));
  assert.equal(shown?.status, 200, JSON.stringify(facts));
  assert.ok(text.includes("/operator/audit") && text.includes("/refresh.js"), path);
}

const isUnknown = (rest = ""): Expected => ({ unknown: rest });

/** What the pages below show of. */
interface Ids {
  id: number;
  name: string;
  code: string;
  requestId: string;
  group: string;
  job: string;
}

function pagesOf({ id, name, code, requestId, group, job }: Ids): PageCase[] {
  return [
    { path: "/operator", redis: "http 0", postgres: "generator", primary: "Queues" },
    {
      path: "/operator/failures",
      redis: isUnknown(),
      postgres: "generator.unreachable",
      primary: "generator.unreachable",
    },
    {
      path: `/operator/failures/${group}`,
      redis: isUnknown(),
      postgres: "actions are unknown",
      primary: "Occurrences",
    },
    {
      path: `/operator/requests/${requestId}`,
      redis: "verify-email",
      postgres: "mail",
      primary: "verify-email",
    },
    {
      path: "/operator/queues",
      redis: "unknown",
      postgres: "avatar-moderation",
      primary: "avatar-moderation",
    },
    {
      path: "/operator/queues/mail",
      redis: isUnknown(),
      postgres: "Run",
      primary: "Run",
    },
    {
      path: "/operator/queues/mail/jobs?state=completed",
      redis: isUnknown(),
      postgres: job,
      primary: job,
    },
    {
      path: `/operator/jobs/mail/${job}`,
      redis: isUnknown(),
      postgres: "completed",
      primary: "completed",
    },
    { path: "/operator/rooms", redis: "lobby", postgres: "lobby", primary: isUnknown() },
    { path: "/operator/rooms/lobby", redis: code, postgres: code, primary: isUnknown() },
    {
      path: `/operator/rooms/lobby/${code}`,
      redis: isUnknown(),
      postgres: code,
      primary: isUnknown(),
    },
    {
      path: "/operator/workers",
      redis: "http 0",
      postgres: "http 0",
      primary: "Events",
    },
    {
      path: "/operator/workers/events",
      redis: "started",
      postgres: isUnknown(),
      primary: "started",
    },
    {
      path: `/operator/players/${id}`,
      redis: name,
      postgres: isUnknown(code),
      primary: name,
    },
    ...["wallet", "messages", "uploads"].map((part) => ({
      path: `/operator/players/${id}/${part}`,
      redis: name,
      postgres: isUnknown(),
      primary: name,
    })),
    { path: "/operator/audit", redis: "Audit", postgres: "Audit", primary: "Audit" },
    {
      path: "/operator/outbox",
      redis: "verify-email",
      postgres: isUnknown(),
      primary: "verify-email",
    },
    { path: "/operator/wallets", redis: "Wallets", postgres: isUnknown(), primary: "Wallets" },
    {
      path: "/operator/imports",
      redis: "running imports are unknown",
      postgres: isUnknown("codex-import"),
      primary: "codex-import",
    },
    {
      path: "/operator/questions?problem=retired",
      redis: "Questions",
      postgres: isUnknown(),
      primary: "Questions",
    },
    { path: "/operator/questions/1", redis: "Pool", postgres: isUnknown(), primary: "Pool" },
    {
      path: "/operator/avatar-uploads",
      redis: "Avatar",
      postgres: isUnknown(),
      primary: "Avatar",
    },
  ];
}

/** Connections made before the primary is frozen: it would accept no further ones. */
const maxSockets = 4;

describe("operator pages while a part of the service is away", () => {
  let service: Service;
  let redisServer: TestRedis;
  let database: Awaited<ReturnType<typeof testDatabase>>;
  const proxies: { postgres: Proxy; redis: Proxy }[] = [];
  const agent = new Agent({ keepAlive: true, maxSockets });
  let pages: PageCase[] = [];

  before(async () => {
    [database, redisServer] = await Promise.all([
      testDatabase({ isStarted: true }),
      acquireRedis(),
    ]);
    const { host, port, user, database: name } = parseDatabaseUrl(database.url);
    const postgres = await startProxy({ path: `${host}/.s.PGSQL.${port}` });
    const redis = await startProxy({ path: redisServer.url.replace("unix://", "") });
    proxies.push({ postgres, redis });
    service = await startService({
      env: {
        DATABASE_URL: `postgres://${user}@127.0.0.1:${postgres.port}/${name}`,
        REDIS_URL: `redis://127.0.0.1:${redis.port}`,
        GENERATOR_URL: `http://127.0.0.1:${await freePort()}`,
        RATE_LIMIT_FACTOR: "0",
        READY_STORE_SECONDS: "6",
      },
    });
    pages = await makePages();
    await Promise.all(Array.from({ length: maxSockets }, () => get("/operator", "text/html")));
  });
  after(async () => {
    agent.destroy();
    await service.stop();
    for (const { postgres, redis } of proxies) await Promise.all([postgres.stop(), redis.stop()]);
    await Promise.all([database.drop(), redisServer.release()]);
  });

  const given = (): Given => ({ ...(proxies[0] ?? assert.fail()), service });
  const get = (path: string, accept: string) =>
    new Promise<Shown>((resolve, reject) => {
      const headers = { accept, authorization: `Bearer ${service.operatorToken}` };
      request(`${service.operatorUrl}${path}`, { agent, headers }, (answer) => {
        answer.setEncoding("utf8");
        let text = "";
        answer.on("data", (piece: string) => (text += piece));
        answer.on("end", () => resolve({ status: answer.statusCode ?? 0, text }));
      })
        .on("error", reject)
        .end();
    });
  const bodyOf = async (path: string) =>
    (JSON.parse((await get(path, "application/json")).text) as { body: unknown }).body;

  const post = (path: string, body: object, token?: string) =>
    fetch(`${service.url}${path}`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(body),
    });

  /** Id of the first entry of a list, once it has one. */
  async function firstId(path: string, list: string): Promise<string> {
    let id = "";
    await eventually(`${path} has an entry`, async () => {
      const body = (await bodyOf(path)) as Record<string, { id: string }[]>;
      id = body[list]?.[0]?.id ?? "";
      return id !== "";
    });
    return id;
  }

  async function makePages(): Promise<PageCase[]> {
    const player = await newPlayer(service.url, "Grace");
    const code = await createLobby(player, { category: "science" });
    const made = await post("/v1/users", {
      ...{ email: "ada@example.com", username: "ada", password: "correct horse 1" },
    });
    assert.equal(made.status, 201);
    const requestId = made.headers.get("x-request-id") ?? "";
    const guest = (await (await post("/v1/gateway/guest", {})).json()) as {
      body: { access_token: string };
    };
    const wish = { category: "film", prompt: "zxqwv" };
    const token = guest.body.access_token;
    assert.equal((await post("/v1/games/trivia/questions/generate", wish, token)).status, 503);
    const group = await firstId("/operator/failures", "failures");
    const job = await firstId("/operator/queues/mail/jobs?state=completed", "jobs");
    const id = player.accountId;
    const { name } = ((await bodyOf(`/operator/players/${id}`)) as { player: { name: string } })
      .player;
    return pagesOf({ id, name, code, requestId, group, job });
  }

  for (const [part, takeAway] of Object.entries(outages)) {
    it(`open without ${part}: they say what is away, and show the rest`, async () => {
      const giveBack = await takeAway(given());
      try {
        await eventually("the overview has noticed it", async () =>
          (await get("/operator", "text/html")).text.includes("has not responded since"),
        );
        const shown = await Promise.all(pages.map(({ path }) => get(path, "text/html")));
        for (const [at, { path, ...expected }] of pages.entries())
          check(path, shown[at], nameOf[part as Part], expected[part as Part]);
        // Not before it is a failure of the service: it must be recorded afterwards.
        if (part !== "primary")
          await eventually("the instance is not ready", async () => {
            return (await get("/ready", "text/plain")).text === `no-${part}`;
          });
      } finally {
        giveBack();
      }
      await eventually("the service is healthy", async () => {
        return (await get("/health", "application/json")).status === 200;
      });
    });
  }

  it("leave a failure for each store, with its address", async () => {
    const { failures } = (await bodyOf("/operator/failures")) as { failures: Group[] };
    const found = failures.filter(({ place }) => place === "store check");
    assert.deepEqual(found.map(({ code, peer }) => `${code} ${peer}`).toSorted(), [
      `postgres.unreachable 127.0.0.1:${given().postgres.port}`,
      `redis.unreachable 127.0.0.1:${given().redis.port}`,
    ]);
  });
});
