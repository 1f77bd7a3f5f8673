import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { LocatedRoom, RoomShare } from "../../../actors/index.ts";
import { openRooms, Rooms, sumOccupancy } from "../../../server/app/open-rooms.ts";
import { clientTypes, type OpenApiDocument } from "../../../server/app/document-types.ts";
import { hubRoutes } from "../../../server/features/hub/routes.ts";
import { publicDocument } from "../../../server/features/docs/openapi-route.ts";
import { roomRoutes, type RoomsDeps } from "../../../server/operator/rooms/routes.ts";
import { AppError, type ErrorCode } from "../../../server/platform/errors.ts";
import { silentLogger } from "../../../server/platform/log/logger.ts";
import { createMetrics } from "../../../server/platform/metrics/metrics.ts";
import { systemClock } from "../../../server/platform/time/clock.ts";
import { hubLimits } from "../../../server/sse/delivery/limits.ts";
import { Emberline } from "../../../server/web/client/emberline.ts";
import { kinds, routes } from "../../actors/kinds/counter-rooms.ts";
import { bodyOf, createCommand } from "../../actors/rooms/fleet.ts";
import { startAppWith } from "../../support/app.ts";
import { openStream } from "../../support/event-stream.ts";
import { ask, holding, openTable, type Table } from "../features/lobbies/seats.ts";
import { callRouteOf } from "../operator/call-route.ts";
import { startTestRedis, type TestRedis } from "../sse/hub-server.ts";

interface CounterEventData {
  "counter.snapshot": { counter: { count: number } };
  "counter.counted": { counter: { count: number } };
}

/** In the order of the table of kinds. */
const kindNames = Object.values(kinds).map(({ kind }) => kind);

const startService = () => startAppWith({ kinds, routes });
type Service = Awaited<ReturnType<typeof startService>>;

describe("two kinds of room in one service, with the same code", () => {
  let app: Service;
  let table: Table;
  before(async () => {
    app = await startService();
    table = await openTable(app);
    await count("open");
  });
  after(() => app.stop());

  const count = (type: "open" | "count") =>
    app.client.post(`/v1/counters/${table.code}`, { body: { type, by: 1 } });

  async function counterSeat(seatId: number): Promise<string> {
    const taken = await app.client.post(`/v1/counters/${table.code}/seats/${seatId}`);
    return (taken.body as { seat_token: string }).seat_token;
  }

  it("accept only seats of their own kind", async () => {
    const { code, host } = table;
    const ofCounter = await counterSeat(host.id);
    const seat = (token: string) =>
      app.client.get(`/v1/counters/${code}/seat`, { headers: { "x-room-token": token } });
    const heartbeat = (token: string) =>
      ask(app, "POST", `/${code}/heartbeat`, undefined, holding(token));
    assert.deepEqual((await seat(ofCounter)).body, { seat_id: host.id });
    assert.equal((await heartbeat(host.token)).status, 200);
    assert.match((await seat(host.token)).text, /"room:token_invalid"/);
    assert.equal((await heartbeat(ofCounter)).code, "lobby:token_invalid");
  });

  it("name a seat and its stream as other kinds do, not as lobbies", async () => {
    const { code } = table;
    const taken = await app.client.post(`/v1/counters/${code}/seats/3`);
    const token = taken.headers.get("x-room-token") ?? "";
    assert.equal((taken.body as { seat_token: string }).seat_token, token);
    const cookie = `svc_room=${token}; Max-Age=86400; Path=/v1/counters/${code};`;
    assert.ok(taken.headers.get("set-cookie")?.startsWith(cookie), cookie);
    const headers = { "x-room-token": token };
    const given = await app.client.post(`/v1/counters/${code}/token`, { headers });
    const [, claims = ""] = (given.headers.get("x-hub-token") ?? "").split(".");
    const { subscribe, lobby_player: seat } = JSON.parse(
      Buffer.from(claims, "base64url").toString(),
    ) as { subscribe: string[]; lobby_player: number };
    assert.deepEqual([subscribe, seat], [[`/rooms/counter/${code}`], 3]);
  });

  it("are followed by the published client, of whatever kind", async () => {
    const path = `/v1/counters/${table.code}/token`;
    const room = { kind: "counter", code: table.code };
    const seats = [undefined, { path, seat: await counterSeat(5) }];
    for (const token of seats) {
      const events = new Emberline({ url: app.url }).follow<CounterEventData>({
        ...room,
        ...(token && { token }),
      });
      const seen: string[] = [];
      for await (const { type } of events) {
        seen.push(type);
        if (type === "counter.snapshot") await count("count");
        if (type === "counter.counted") break;
      }
      assert.equal(seen[0], "counter.snapshot");
    }
  });

  it("count a seat's command once, however often it is sent with its key", async () => {
    const key = { "idempotency-key": "one" };
    const headers = { "x-room-token": await counterSeat(9), ...key };
    const countOnce = async () => {
      const { text } = await app.client.post(`/v1/counters/${table.code}/count`, { headers });
      return /"count":\d+/.exec(text)?.[0];
    };
    const first = await countOnce();
    assert.ok(first);
    assert.equal(await countOnce(), first);
  });

  it("sign lobby tokens without a kind, as every release does", async () => {
    const read = (token: string) =>
      JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as object;
    const { code, host } = table;
    const names = ["jti", "lobby", "lobby_player", "iss", "aud", "sub", "iat", "exp"];
    assert.deepEqual(Object.keys(read(host.token)), names);
    const { kind, lobby } = read(await counterSeat(1)) as { kind: string; lobby: string };
    assert.deepEqual({ kind, lobby }, { kind: "counter", lobby: code });
  });

  it("send their own messages to a stream that follows both", async () => {
    const { code, host } = table;
    const token = await ask(app, "POST", `/${code}/token`, undefined, host.as);
    const [lobby, counter] = [`/games/trivia/lobby/${code}`, `/rooms/counter/${code}`];
    const stream = openStream(`${app.url}/v1/hub?topic=${lobby}&also=${counter}`, {
      token: token.headers.get("x-hub-token") ?? "",
      reconnect: false,
    });
    const topicIn = async (event: string) => {
      const { data } = await stream.waitFor((frame) => frame.event === event, event);
      return (data as { topic: string }).topic;
    };
    assert.equal(await topicIn("lobby.snapshot"), lobby);
    assert.equal(await topicIn("counter.snapshot"), counter);
    await count("count");
    assert.equal(await topicIn("counter.counted"), counter);
    stream.close();
  });

  it("apply their own rule for who may follow them", async () => {
    const addressOf = (place: string) => `/v1/hub?topic=/${place}/${table.code}`;
    const open = openStream(app.url + addressOf("rooms/counter"), { reconnect: false });
    await open.waitFor(({ event }) => event === "counter.snapshot", "a snapshot");
    open.close();
    assert.match((await app.client.get(addressOf("games/trivia/lobby"))).text, /"auth:required"/);
    for (const place of ["rooms/nothing", "rooms/lobby", "games/trivia/counter"])
      assert.match((await app.client.get(addressOf(place))).text, /"request:invalid_query"/, place);
  });

  it("count the streams of their seats separately", async () => {
    const subscriptionOf = (kind: string, n: number) => {
      const topic = { kind, name: `${kind} ${table.code}`, code: table.code };
      const topics = [{ topic, seatId: 77, publicAt: null }];
      return { topics, lastEventId: null, expiresAt: null, ip: `192.0.2.${n}` };
    };
    const numOpen = hubLimits.maxStreamsPerSeat;
    for (const kind of ["lobby", "counter"]) {
      for (let n = 0; n < numOpen; n++) await app.deps.hub.admit(subscriptionOf(kind, n));
      await assert.rejects(
        app.deps.hub.admit(subscriptionOf(kind, numOpen)),
        (error) => error instanceof AppError && error.code === "rate_limit:exceeded",
      );
    }
    assert.equal(await app.deps.redis.exists("{hub}:seat:77", "{hub}:seat:counter:77"), 2);
    for (const kind of ["lobby", "counter"])
      for (let n = 0; n < numOpen; n++) app.deps.hub.abandon(subscriptionOf(kind, n));
  });

  it("are shown to operators alike, without the content of their states", async () => {
    const { deps } = app;
    const { pid } = process;
    const sources: RoomsDeps = {
      lobbies: async () => [],
      rooms: async () => [{ host: "here", pid, kinds: deps.rooms.describe() }],
      room: async ({ kind, code }) => [
        {
          ...{ process: "own", hasRead: true },
          room: await deps.rooms.locate(kind, code),
          facts: await deps.rooms.factsOf(kind, code),
        },
      ],
      subscribers: async ({ codes }) => [codes.map(() => 2), codes.map(() => 1)],
    };
    const read = <Body>(path: string) =>
      callRouteOf<RoomsDeps, Body>(roomRoutes, sources, `/operator/rooms${path}`);
    const { kinds: shown } = await read<{ kinds: { kind: string; num_rooms: number }[] }>("");
    assert.deepEqual(
      shown.map(({ kind, num_rooms }) => [kind, num_rooms]),
      kindNames.map((kind) => [kind, ["lobby", "counter"].includes(kind) ? 1 : 0]),
    );
    const statuses = { lobby: "waiting", counter: "running" };
    const fields = ["code", "shard", "status", "last_seq", "deadline_at", "num_subscribers"];
    fields.push("num_commands");
    for (const [kind, status] of Object.entries(statuses)) {
      const { rooms } = await read<{ rooms: Record<string, unknown>[] }>(`/${kind}`);
      const [held = {}] = rooms;
      assert.deepEqual([held["code"], held["status"]], [table.code, status]);
      assert.deepEqual(Object.keys(held), [...fields, "owner", "last_command_at"]);
      const { room } = await read<{ room: Record<string, unknown> }>(`/${kind}/${table.code}`);
      const more = ["kind", "owner", "owners", "events", "members", "result_job"];
      assert.deepEqual(Object.keys(room), [...fields, ...more]);
      assert.deepEqual([room["status"], room["owner"]], [status, held["owner"]]);
      assert.equal(typeof room["deadline_at"], "string");
      assert.deepEqual([held["num_subscribers"], room["num_subscribers"]], [3, 3]);
      // Opening it, and what the tests before sent, but not the read of this view.
      const { num_commands: before } = held;
      assert.ok(Number(before) > 0);
      // A turn of the counter may end between the two reads.
      assert.ok(kind === "counter" || room["num_commands"] === before);
    }
    for (const path of ["/nothing", "/constructor", "/__proto__", "/toString", "/%00"])
      await refusal(read(path), "room:kind_not_found");
    for (const path of [
      "/nothing/AAAAAA",
      "/constructor/AAAAAA",
      "/counter/AAAAAA",
      "/counter/AAA",
    ])
      await refusal(read(path), "room:not_found");
    await refusal(read("/counter?limit=many"), "request:invalid_query");
  });

  it("are counted with their kind as a label", async () => {
    const text = await app.deps.metrics.registry.metrics();
    assert.match(
      text,
      /^emberline_room_commands_total\{kind="lobby",type="create",outcome="ok"\} 1$/m,
    );
    assert.match(
      text,
      /^emberline_room_commands_total\{kind="counter",type="open",outcome="ok"\} 1$/m,
    );
  });
});

const refusal = (read: Promise<unknown>, code: ErrorCode) =>
  assert.rejects(read, (error) => error instanceof AppError && error.code === code);

describe("rooms shown to operators", () => {
  it("are read by another process while their owner does not answer", async () => {
    const asked: (string | null)[] = [];
    const room: LocatedRoom = {
      ...{ code: "AAAAAA", shard: 1, status: "running", seq: 4, deadline: null },
      ...{ owner: "silent", numCommands: null, owners: [], events: [] },
    };
    const sources: RoomsDeps = {
      lobbies: async () => [],
      rooms: async () => [],
      // Only a process that does not own it reports, and reads when it is asked to.
      room: async ({ reader }) => {
        asked.push(reader);
        const hasRead = reader === "other";
        return [{ process: "other", hasRead, room: hasRead ? room : null, facts: null }];
      },
      subscribers: async () => [[1]],
    };
    const path = "/operator/rooms/counter/AAAAAA";
    const body = await callRouteOf<RoomsDeps, { room: Record<string, unknown> }>(
      roomRoutes,
      sources,
      path,
    );
    assert.deepEqual(body.room, {
      ...{ code: "AAAAAA", shard: 1, status: "running", last_seq: 4, deadline_at: null },
      ...{ num_subscribers: 1, num_commands: null, kind: "counter", owner: "silent" },
      ...{ owners: [], events: [], members: null, result_job: null },
    });
    assert.deepEqual(asked, [null, "other"]);
  });

  it("are unknown while no process answers", async () => {
    const none = async () => [];
    const silent: RoomsDeps = { rooms: none, room: none, subscribers: none, lobbies: none };
    for (const path of ["", "/counter", "/counter/AAAAAA"])
      await refusal(
        callRouteOf(roomRoutes, silent, `/operator/rooms${path}`),
        "server:unavailable",
      );
  });
});

describe("the OpenAPI document of a service with two kinds of room", () => {
  const others = routes.filter(({ path }) => path !== "/v1/hub");
  const document = publicDocument([...others, ...hubRoutes(kinds)]) as OpenApiDocument;

  it("contains the messages of both kinds", () => {
    for (const name of ["lobby.snapshot", "lobbies.updated", "counter.snapshot", "counter.ended"])
      assert.ok(document.components.schemas[name], name);
  });

  it("gives the client the types of both kinds", () => {
    const types = clientTypes(document);
    for (const name of ["LobbyEventData", "CounterEventData"])
      assert.match(types, new RegExp(`^export interface ${name} \\{\n  "`, "m"));
  });
});

describe("a process with rooms of two kinds", () => {
  let app: Service;
  let redis: TestRedis;
  before(async () => {
    app = await startService();
    redis = await startTestRedis();
  });
  after(async () => {
    await app.stop();
    await redis.stop();
  });

  it("is occupied while it has rooms of either kind", async () => {
    const told: boolean[] = [];
    const { rooms, byName } = await openRooms(kinds, app.deps, {
      ...{ redisUrl: redis.url, log: silentLogger, clock: systemClock },
      ...{ metrics: createMetrics(), topicBase: "/games/trivia" },
      onOccupied: (isOccupied) => told.push(isOccupied),
      // A process that stands still for longer than its lease gives its rooms up.
      timings: { freshMs: 45_000, deadMs: 60_000 },
    });
    const { lobbies, counters, ...others } = byName;
    assert.ok((await counters.ask("AAAAAA", { type: "open" })).ok);
    assert.deepEqual(told, [true]);
    bodyOf(await lobbies.ask("AAAAAA", createCommand("AAAAAA", [1])));
    await counters.stop();
    assert.deepEqual(told, [true]);
    assert.deepEqual(
      rooms.nodes.map(({ keyPrefix }) => keyPrefix),
      kindNames.map((kind) => (kind === "lobby" ? "" : `${kind}:`)),
    );
    await lobbies.stop();
    for (const rest of Object.values<RoomShare>(others)) await rest.stop();
    assert.deepEqual(told, [true, false]);
  });

  it("describes up to 100 rooms of a kind", async () => {
    const { counters, rooms } = app.deps;
    const codes = Array.from({ length: 101 }, (_, i) => `ROOM${i}`);
    await Promise.all(codes.map((code) => counters.ask(code, { type: "open" })));
    const { actors, held } = rooms.describe()["counter"] ?? assert.fail("no counters");
    assert.deepEqual([actors, held.length], [101, 100]);
  });

  it("does not start with two kinds of the same name", () => {
    const { counters } = app.deps;
    const twice = { rooms: counters, access: null };
    assert.throws(() => new Rooms([twice, twice]), { message: /two kinds .+ "counter"/ });
  });
});

describe("the occupancy of a process", () => {
  it("is published when it changes, not once per kind", () => {
    const told: boolean[] = [];
    const occupancyOf = sumOccupancy((isOccupied) => told.push(isOccupied));
    const [one, other] = [occupancyOf("one"), occupancyOf("other")];
    one(true);
    other(true);
    one(false);
    assert.deepEqual(told, [true]);
    other(false);
    one(true);
    assert.deepEqual(told, [true, false, true]);
  });
});
