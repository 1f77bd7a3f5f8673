import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import Type from "typebox";
import { AppError } from "../../../server/platform/errors.ts";
import {
  encodedReply,
  reply,
  routesWith,
  type Route,
} from "../../../server/http/pipeline/route.ts";
import { createClient, type Client } from "../../support/client.ts";
import { freePort } from "../../support/free-port.ts";
import { startSample, type SampleDeps, type SampleServer } from "./sample.ts";

const defineRoute = routesWith<SampleDeps>();
/** Room -> port of its owner. */
const owners = new Map<string, number>();
const ownerPortOf = (kind: string, code: string) => owners.get(`${kind} ${code}`) ?? null;

const about = { summary: "for tests", tag: "test", source: "test" };
const [ours, theirs, closed, nobodys] = ["AAAAAA", "BBBBBB", "CCCCCC", "DDDDDD"] as const;
const room = defineRoute({
  ...about,
  method: "GET",
  path: "/v1/rooms/{code}",
  auth: "public",
  room: "game",
  params: Type.Object({ code: Type.String() }),
  responses: { 204: null },
  errors: ["lobby:not_found"],
  handler: ({ params }) => {
    if (params.code === closed) throw new AppError("lobby:not_found");
    return reply(204);
  },
});
const signIn = defineRoute({
  ...about,
  method: "POST",
  path: "/v1/sit",
  auth: "public",
  setsCookie: "by-page",
  responses: { 204: null },
  errors: [],
  handler: () => reply(204),
});
const open = defineRoute({
  ...about,
  method: "POST",
  path: "/v1/rooms",
  auth: "public",
  idempotent: true,
  rare: { namesOwner: true },
  responses: { 201: Type.Object({}) },
  errors: [],
  handler: () => encodedReply(201, "{}", { room: { kind: "game", code: theirs } }),
});
const routes: Route<SampleDeps>[] = [room, signIn, open];
const ownerPort = "x-owner-port";

describe("the port of a worker alone", () => {
  let sample: SampleServer;
  let port = 0;
  let common: Client;
  let alone: Client;
  before(async () => {
    const env = { PUBLIC_BASE_URL: "https://game.example.com", PORT: "8080" };
    sample = await startSample({ routes, env, server: { ownerPort: ownerPortOf } });
    port = await freePort();
    await sample.server.listenDedicated("127.0.0.1", port);
    common = createClient(sample.url, routes);
    alone = createClient(`http://127.0.0.1:${port}`, routes);
    owners.set(`game ${ours}`, port).set(`game ${closed}`, port).set(`game ${theirs}`, 8082);
  });
  after(() => sample.stop());

  test("is named in a replayed response as it is at that time", async () => {
    const send = async (to: Client) => {
      const headers = { "idempotency-key": "opened" };
      const answer = await to.request("POST", "/v1/rooms", { headers });
      assert.equal(answer.status, 201);
      return answer.headers.get(ownerPort);
    };
    assert.equal(await send(common), "8082");
    owners.set(`game ${theirs}`, port);
    assert.deepEqual([await send(common), await send(alone)], [String(port), null]);
    // The previous version stored the header.
    const [mark = ""] = await sample.deps.redis.keys("idempotent:*");
    const stored = (await sample.deps.redis.get(mark)) ?? "";
    const former = stored.replace('"headers":[]', '"headers":[["X-Owner-Port","8082"]]');
    assert.notEqual(former, stored);
    await sample.deps.redis.set(mark, former);
    assert.deepEqual([await send(common), await send(alone)], [String(port), null]);
    owners.set(`game ${theirs}`, 8082);
  });

  describe("is named", () => named({ common: () => common, alone: () => alone, port: () => port }));
  describe("and pages", () => pages({ common: () => common, alone: () => alone }));

  test("is refused to a second process", async () => {
    const second = await startSample({ routes, besides: sample });
    await assert.rejects(second.server.listenDedicated("127.0.0.1", port), /Cannot listen on/);
    assert.equal((await createClient(second.url, routes).get(`/v1/rooms/${ours}`)).status, 204);
    await second.stop();
  });

  test("closes with the other one when the process drains", async () => {
    const leaving = await startSample({ routes, besides: sample });
    const own = await freePort();
    await leaving.server.listenDedicated("127.0.0.1", own);
    const client = createClient(`http://127.0.0.1:${own}`, routes);
    assert.equal((await client.get(`/v1/rooms/${ours}`)).status, 204);
    leaving.server.beginDrain();
    await assert.rejects(fetch(`http://127.0.0.1:${own}/v1/rooms/${ours}`));
    await assert.rejects(fetch(`${leaving.url}/v1/rooms/${ours}`));
    await leaving.stop();
  });
});

interface Both {
  common: () => Client;
  alone: () => Client;
}

function named({ common, alone, port }: Both & { port: () => number }): void {
  test("at the common port, by refusals too", async () => {
    for (const [name, owner] of [
      [ours, port()],
      [ours.toLowerCase(), port()],
      [theirs, 8082],
      [closed, port()],
    ] as const) {
      const { headers } = await common().get(`/v1/rooms/${name}`);
      assert.equal(headers.get(ownerPort), String(owner), name);
    }
  });

  test("at the port of a worker only when another one is the owner", async () => {
    assert.equal((await alone().get(`/v1/rooms/${ours}`)).headers.get(ownerPort), null);
    assert.equal((await alone().get(`/v1/rooms/${theirs}`)).headers.get(ownerPort), "8082");
  });

  test("not when nobody has one, and not where there is no room", async () => {
    for (const name of [nobodys, "nothing"])
      assert.equal((await common().get(`/v1/rooms/${name}`)).headers.get(ownerPort), null);
  });
}

function pages({ common, alone }: Both): void {
  const own = ["https://game.example.com", "http://127.0.0.1:8080"];
  const others = [
    "https://evil.example",
    "https://game.example.com:8443",
    "http://game.example.com",
    "http://127.0.0.1:3000",
    "https://127.0.0.1:8080",
    "http://localhost:8080",
    "null",
  ];

  test("of the service may read its answers, without cookies", async () => {
    for (const origin of own) {
      const { headers } = await alone().get(`/v1/rooms/${theirs}`, { headers: { origin } });
      assert.equal(headers.get("access-control-allow-origin"), origin);
      assert.equal(headers.get("access-control-allow-credentials"), null);
      assert.match(headers.get("access-control-expose-headers") ?? "", /X-Owner-Port/);
      assert.match(headers.get("vary") ?? "", /Origin/);
    }
  });

  test("of the service may send its headers", async () => {
    for (const origin of own) {
      const { headers } = await preflight(alone(), origin);
      assert.equal(headers.get("access-control-allow-origin"), origin);
      assert.equal(headers.get("access-control-allow-credentials"), null);
      assert.match(headers.get("access-control-allow-headers") ?? "", /X-Lobby-Token/);
    }
  });

  test("of the service may ask for a cookie, which their browser does not keep", async () => {
    for (const origin of own) assert.equal((await sit(alone(), origin)).status, 204, origin);
  });

  test("of others get no permission", async () => {
    for (const origin of others) {
      for (const { headers } of [
        await alone().get(`/v1/rooms/${theirs}`, { headers: { origin } }),
        await preflight(alone(), origin),
      ])
        assert.equal(headers.get("access-control-allow-origin"), null, origin);
      assert.equal((await sit(alone(), origin)).status, 403, origin);
    }
  });

  test("of the service get none at the common port, which is their own", async () => {
    for (const origin of own) {
      const { headers } = await common().get(`/v1/rooms/${theirs}`, { headers: { origin } });
      assert.equal(headers.get("access-control-allow-origin"), null);
    }
  });
}

const preflight = (client: Client, origin: string) =>
  client.request("OPTIONS", `/v1/rooms/${theirs}`, {
    headers: {
      origin,
      "access-control-request-method": "GET",
      "access-control-request-headers": "x-lobby-token",
    },
  });

const sit = (client: Client, origin: string) =>
  client.post("/v1/sit", { headers: { origin, "sec-fetch-site": "same-site" } });
