import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { systemClock } from "../../../../server/platform/time/clock.ts";
import { parseConfig } from "../../../../server/platform/config/config.ts";
import { AppError } from "../../../../server/platform/errors.ts";
import { createTokenService } from "../../../../server/platform/security/tokens.ts";
import type { Reply as RoomReply } from "../../../../actors/index.ts";
import type { Reply } from "../../../../server/http/pipeline/route.ts";
import type { Subscription } from "../../../../server/sse/delivery/subscription.ts";
import { lobbyHubRoutes, roomsThat } from "./hub-of-sample.ts";

const config = parseConfig({ APP_SECRET: "a-secret-of-more-than-thirty-two-bytes" });
const tokens = createTokenService(config, systemClock);
const base = "/games/trivia";
const topic = `${base}/lobby/ABC234`;
const hubToken = (subscribe: string[] = [topic], seat = 7) =>
  tokens.sign("hub", "7", 3_600, { subscribe, lobby: "ABC234", lobby_player: seat });

interface Request {
  query?: string;
  headers?: Record<string, string>;
  cookies?: Record<string, string>;
  seat?: RoomReply | Promise<RoomReply>;
  isDraining?: boolean;
  drainsMeanwhile?: boolean;
}

interface Outcome {
  code: string;
  subscription: Subscription | null;
  reply: Reply | null;
  /** Subscriptions whose places were released. */
  given: Subscription[];
}

/** Calls the handler like the pipeline does; the lobby answers the seat check as given. */
async function subscribe(request: Request): Promise<Outcome> {
  let subscription: Subscription | null = null;
  const given: Subscription[] = [];
  const hub = {
    isDraining: request.isDraining === true,
    admit: async (admitted: Subscription) => void (subscription = admitted),
    abandon: (abandoned: Subscription) => void given.push(abandoned),
  };
  const ask = async () => {
    hub.isDraining ||= request.drainsMeanwhile === true;
    return request.seat ?? { ok: true, body: null };
  };
  const rooms = roomsThat(ask);
  const [route] = lobbyHubRoutes;
  assert.ok(route);
  try {
    const reply = await route.handler({
      deps: { config, tokens, hub, rooms },
      request: {
        headers: {},
        cookies: {},
        ip: "192.0.2.1",
        ...request,
        query: request.query ?? `topic=${topic}`,
      },
    } as never);
    return { code: "ok", subscription, reply, given };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    assert.ok(route.errors.includes(error.code), `${error.code} is declared`);
    return { code: error.code, subscription, reply: null, given };
  }
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
/** Times of a token signed since `before`, in whole seconds. */
function expiresIn(seconds: number, subscription: Subscription | null, before: number): boolean {
  const signedAt = (subscription?.expiresAt ?? 0) - seconds * 1_000;
  return signedAt > before - 1_000 && signedAt < Date.now() + 1_000;
}

const codeOf = async (request: Request) => (await subscribe(request)).code;

test("the list needs no token", async () => {
  const { subscription, reply } = await subscribe({ query: `topic=${base}/lobbies` });
  const topic = { kind: "list", name: `${base}/lobbies`, list: "lobbies" };
  assert.deepEqual(subscription, {
    topics: [{ topic, seatId: null, publicAt: null }],
    lastEventId: null,
    expiresAt: null,
    ip: "192.0.2.1",
  });
  assert.deepEqual(reply?.headers, [
    ["Cache-Control", "no-store, no-transform"],
    ["X-Accel-Buffering", "no"],
    ["Connection", "close"],
  ]);
});

test("no topic, several topics and unknown forms are refused", async () => {
  const queries = [
    "",
    "topic=",
    "topic=*",
    `topic=${topic}&topic=${topic}`,
    `topic=${base}/lobbies&topic=${topic}`,
    `topic=${base}/lobby/`,
    `topic=${base}`,
    "Topic=x",
    "topic[]=x",
    "topic=%FF%00",
    `also=${topic}`,
    `topic=${topic}&also=${topic}`,
    `topic=${topic}&also=${topic.toLowerCase().replace("abc", "ABC")}`,
    `topic=${topic}&also=${base}/lobbies&also=${base}/lobbies`,
    `topic=${topic}&also=*`,
    `topic=${topic}&also=`,
    `topic=${topic}${"234567892345678923".replace(/./g, (n, i) => `&also=${base}/lobby/ABC${n}${n}${i < 9 ? "A" : "B"}`)}`,
  ];
  for (const query of queries)
    assert.equal(
      await codeOf({ query, headers: bearer(hubToken()) }),
      "request:invalid_query",
      query,
    );
});

test("a lobby is open to a token that names it, and its seat is handed on", async () => {
  const before = Date.now();
  const { subscription } = await subscribe({
    headers: bearer(hubToken()),
    query: `topic=${encodeURIComponent(topic.replace("ABC", "abc"))}`,
  });
  const followed = { kind: "lobby", name: topic, code: "ABC234" };
  assert.deepEqual(subscription?.topics, [{ topic: followed, seatId: 7, publicAt: null }]);
  assert.ok(expiresIn(3_600, subscription, before));
});

test("every token of header, cookie and query is tried", async () => {
  const good = hubToken();
  const other = hubToken([`${base}/lobby/XYZ234`]);
  const cookies = (token: string) => ({ hubAuthorization: token });
  const query = (token: string) => `topic=${topic}&authorization=${token}`;
  assert.equal(await codeOf({ cookies: cookies(good) }), "ok");
  assert.equal(await codeOf({ query: query(good) }), "ok");
  assert.equal(
    await codeOf({ headers: bearer(good), cookies: cookies(other), query: query(other) }),
    "ok",
  );
  assert.equal(await codeOf({ headers: bearer(other), cookies: cookies(good) }), "ok");
  assert.equal(await codeOf({ cookies: cookies(other), query: query(good) }), "ok");
  assert.equal(await codeOf({ cookies: cookies("x.y.z"), query: query(good) }), "ok");
  assert.equal(
    await codeOf({ headers: bearer(other), cookies: cookies(other), query: query(other) }),
    "hub:topic_forbidden",
  );
  assert.equal(
    await codeOf({ headers: bearer(other), cookies: cookies("x.y.z") }),
    "auth:token_invalid",
    "the invalid one may be the one of this topic",
  );
  assert.equal(
    await codeOf({ headers: { authorization: "Basic abc" }, cookies: cookies(good) }),
    "ok",
  );
});

test("a lobby without a valid token of its own is refused", async () => {
  assert.equal(await codeOf({}), "auth:required");
  assert.equal(await codeOf({ headers: { authorization: "Bearer " } }), "auth:required");
  assert.equal(await codeOf({ headers: bearer("x.y.z") }), "auth:token_invalid");
  const lobby = tokens.sign("lobby", "7", 60, { lobby: "ABC234", lobby_player: 7 });
  const access = tokens.sign("access", "7", 60, { subscribe: [topic] });
  for (const token of [lobby, access])
    assert.equal(await codeOf({ headers: bearer(token) }), "auth:token_invalid");
  for (const subscribed of [
    [],
    ["*"],
    [`${base}/lobby/*`],
    [`${base}/lobby/ABC235`],
    [`${base}/lobbies`],
  ])
    assert.equal(
      await codeOf({ headers: bearer(hubToken(subscribed)) }),
      "hub:topic_forbidden",
      subscribed.join(),
    );
});

test("further topics each need a token that names them, the list none", async () => {
  const before = Date.now();
  const [a, b] = [topic, `${base}/lobby/XYZ234`];
  const [ofA, ofB] = [hubToken(), hubToken([b], 8)];
  const query = `topic=${a}&also=${base}/lobbies&also=${b}`;
  assert.equal(await codeOf({ query, headers: bearer(ofA) }), "hub:topic_forbidden");
  assert.equal(await codeOf({ query }), "auth:required");
  assert.equal(await codeOf({ query, headers: bearer(`${ofA},x.y.z`) }), "auth:token_invalid");
  assert.equal(await codeOf({ query, headers: bearer(`${ofA},`) }), "auth:token_invalid");
  const many = Array.from({ length: 17 }, () => ofA).join();
  assert.equal(await codeOf({ query, headers: bearer(many) }), "auth:token_invalid");
  const short = tokens.sign("hub", "7", 60, { subscribe: [b], lobby: "XYZ234", lobby_player: 8 });
  for (const [given, seconds] of [
    [`${ofA},${ofB}`, 3_600],
    [`${short},${ofA}`, 60],
  ] as const) {
    const requests: Request[] = [
      { query, headers: bearer(given) },
      { query: `${query}&authorization=${given}` },
    ];
    for (const request of requests) {
      const { subscription } = await subscribe(request);
      const followed = subscription?.topics.map((one) => [one.topic.name, one.seatId]);
      assert.deepEqual(followed, [
        [a, 7],
        [`${base}/lobbies`, null],
        [b, 8],
      ]);
      assert.ok(expiresIn(seconds, subscription, before), "the first token to end ends the stream");
    }
  }
  const withList = await subscribe({
    query: `topic=${base}/lobbies&also=${a}`,
    headers: bearer(ofA),
  });
  assert.equal(withList.subscription?.topics.length, 2);
});

test("a process that is draining sends every stream back, whatever is asked of it", async () => {
  const queries = ["", "topic=*", `topic=${topic}`, `topic=${base}/lobbies`];
  for (const query of queries) {
    const { reply, code } = await subscribe({ query, isDraining: true });
    assert.equal(code, "ok", query);
    assert.ok(reply?.kind === "stream" && reply.status === 200);
  }
  const seat: RoomReply = { ok: false, code: "server:unavailable" };
  const headers = bearer(hubToken());
  const { reply } = await subscribe({ headers, seat, drainsMeanwhile: true });
  assert.equal(reply?.kind, "stream");
});

test("a browser is sent back from a service that is busy, since a 503 would be final for it", async () => {
  const headers = { ...bearer(hubToken()), accept: "TEXT/event-stream" };
  const busy: (() => RoomReply | Promise<RoomReply>)[] = [
    () => ({ ok: false, code: "server:unavailable" }),
    () => Promise.reject(Object.assign(new Error("no Redis"), { code: "ECONNREFUSED" })),
  ];
  for (const ask of busy) {
    const { reply, subscription } = await subscribe({ headers, seat: ask() });
    assert.equal(reply?.kind, "stream");
    assert.equal(subscription, null);
  }
  const seat: RoomReply = { ok: false, code: "server:unavailable" };
  for (const accept of ["*/*", "application/json"])
    assert.equal(await codeOf({ headers: { ...headers, accept }, seat }), "server:unavailable");
  for (const code of ["rate_limit:exceeded", "lobby:not_found"] as const)
    assert.equal(await codeOf({ headers, seat: { ok: false, code } }), code);
});

test("a browser is sent back before its request is too old, and takes no place afterwards", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    const seat = Promise.withResolvers<RoomReply>();
    const headers = { ...bearer(hubToken()), accept: "text/event-stream" };
    const opening = subscribe({ headers, seat: seat.promise });
    mock.timers.tick(8_000);
    const { reply, given } = await opening;
    assert.equal(reply?.kind, "stream");
    seat.resolve({ ok: true, body: null });
    await new Promise(setImmediate);
    assert.equal(given.length, 1);
  } finally {
    mock.timers.reset();
  }
});

test("a client that left before its stream was opened leaves no place taken", async () => {
  const { reply, given, subscription } = await subscribe({ query: `topic=${base}/lobbies` });
  assert.ok(reply?.kind === "stream");
  assert.deepEqual(given, []);
  reply.release();
  assert.deepEqual(given, [subscription]);
});

test("the lobby is asked whether the seat is still held; only a seat that is gone is final", async () => {
  const headers = bearer(hubToken());
  const refusals = {
    "lobby:not_member": "hub:topic_forbidden",
    "rate_limit:exceeded": "rate_limit:exceeded",
    "lobby:not_found": "lobby:not_found",
    "server:unavailable": "server:unavailable",
  } as const;
  for (const [code, expected] of Object.entries(refusals) as [keyof typeof refusals, string][])
    assert.equal(await codeOf({ headers, seat: { ok: false, code } }), expected);
  const seatless = tokens.sign("hub", "7", 60, { subscribe: [topic] });
  assert.equal(await codeOf({ headers: bearer(seatless) }), "hub:topic_forbidden");
});

test("a spectator is handed on with the number at which the lobby is public", async () => {
  const token = tokens.sign("hub", "0", 60, {
    subscribe: [topic],
    lobby: "ABC234",
    spectator: true,
  });
  const seat: RoomReply = { ok: true, body: '{"lobby":{"code":"ABC234","seq":12}}' };
  const { subscription } = await subscribe({ headers: bearer(token), seat });
  const followed = { kind: "lobby", name: topic, code: "ABC234" };
  assert.deepEqual(subscription?.topics, [{ topic: followed, seatId: null, publicAt: 12 }]);
});

test("the number to resume at comes from the header, else from any spelling of the query", async () => {
  const lastOf = async (request: Request) =>
    (await subscribe({ headers: {}, ...request })).subscription?.lastEventId;
  const list = `topic=${base}/lobbies`;
  assert.equal(await lastOf({ query: `${list}&lastEventID=4` }), "4");
  assert.equal(await lastOf({ query: `${list}&last_event_id=5` }), "5");
  assert.equal(await lastOf({ query: `${list}&lastEventId=7` }), "7");
  assert.equal(
    await lastOf({ query: `${list}&lastEventID=4`, headers: { "last-event-id": "6" } }),
    "6",
  );
  assert.equal(await lastOf({ query: `${list}&lastEventID=` }), null);
});
