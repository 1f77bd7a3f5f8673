import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Emberline, type Seat } from "../../../../server/web/client/emberline.ts";
import { startApp, type App } from "../../../support/app.ts";

const lobbies = "/v1/games/trivia/lobbies";
const topicOf = (code: string) => `/games/trivia/lobby/${code}`;
const queryOf = ([first = "", ...others]: string[]) =>
  new URLSearchParams([["topic", topicOf(first)], ...others.map((one) => ["also", topicOf(one)])]);

describe("a browser that follows several lobbies", () => {
  let app: App;
  before(async () => {
    app = await startApp();
  });
  after(() => app.stop());

  const host = () => new Emberline({ url: app.url }).create({ hostName: "Ada" });
  const hosts = (count: number) => Promise.all(Array.from({ length: count }, host));

  /** The cookies that the token request of each seat sets; a later one replaces the first. */
  async function jarOf(seats: Seat[]): Promise<Map<string, string>> {
    const jar = new Map<string, string>();
    for (const { code, key } of seats) {
      const { headers } = await app.client.request("POST", `${lobbies}/${code}/token`, {
        headers: { "x-lobby-token": key.token },
      });
      for (const line of headers.getSetCookie()) {
        const [, name = "", value = ""] = /^(\w+)=([^;]*)/.exec(line) ?? [];
        jar.set(name, value);
      }
    }
    return jar;
  }

  /** Opens a stream like EventSource and leaves it: its status, its body if refused, the cookies that it clears. */
  async function open(query: URLSearchParams | string, jar: Map<string, string>) {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(`${app.url}/v1/hub?${query}`, {
      headers: { accept: "text/event-stream", ...(cookie && { cookie }) },
    });
    const { status, headers } = response;
    const text = status === 200 ? await response.body?.cancel() : await response.text();
    const cleared = headers.getSetCookie().map((line) => {
      assert.match(line, /^\w+=; Max-Age=0; Path=\/v1\/hub; HttpOnly; SameSite=Lax$/);
      return line.slice(0, line.indexOf("="));
    });
    return { status, code: /"code":"([a-z_]+:[a-z_]+)"/.exec(text ?? "")?.[1], cleared };
  }

  it("has a cookie for each, so that the older stream reconnects after a later token request", async () => {
    const seats = await hosts(2);
    const jar = await jarOf(seats);
    const names = seats.map(({ code }) => `hubAuthorization_${code}`);
    assert.deepEqual([...jar.keys()].sort(), ["hubAuthorization", ...names].sort());
    for (const { code } of seats)
      assert.deepEqual(await open(queryOf([code]), jar), {
        status: 200,
        code: undefined,
        cleared: [],
      });
    const all = await open(queryOf(seats.map(({ code }) => code)), jar);
    assert.equal(all.status, 200, "one stream for both");
  });

  it("loses the cookie of a seat that is gone, by its own stream and by another one", async () => {
    const [left, stays] = await hosts(2);
    assert.ok(left && stays);
    const guest = await new Emberline({ url: app.url }).join(left.code, "Grace");
    const jar = await jarOf([guest, stays]);
    await guest.leave();
    const name = `hubAuthorization_${left.code}`;
    assert.deepEqual(await open(queryOf([left.code]), jar), {
      status: 403,
      code: "hub:topic_forbidden",
      cleared: [name],
    });
    assert.deepEqual(await open(queryOf([stays.code]), jar), {
      status: 200,
      code: undefined,
      cleared: [name],
    });
  });

  it("is not refused because a cookie is invalid, which it loses", async () => {
    const [seat] = await hosts(1);
    assert.ok(seat);
    const jar = await jarOf([seat]);
    const junk = [...jar].map(([name, value]): [string, string] => [name, `${value}x`]);
    const token = jar.get("hubAuthorization") ?? "";
    const query = queryOf([seat.code]);
    query.set("authorization", token);
    const { status, cleared } = await open(query, new Map(junk));
    assert.deepEqual([status, cleared.sort()], [200, [...jar.keys()].sort()]);
  });

  it("follows 16 lobbies through one address, with one token made of those of its seats", async () => {
    const seats = await hosts(16);
    const join = (tokens: string[]) =>
      app.client.request("POST", "/v1/hub/token", { body: { tokens } });
    const hubTokens = [...(await jarOf(seats.slice(8)))].slice(1).map(([, value]) => value);
    const [left, ...held] = seats;
    assert.ok(left);
    const guest = await new Emberline({ url: app.url }).join(left.code, "Grace");
    const ofSeats = [guest, ...held.slice(0, 7)].map(({ key }) => key.token);
    const given = [...ofSeats, ...hubTokens];
    const made = await join(given);
    assert.equal(made.status, 201);
    const { token, topics } = made.body as { token: string; topics: string[] };
    const codes = seats.map(({ code }) => code);
    assert.deepEqual(topics.toSorted(), codes.map(topicOf).sort());
    const query = queryOf(codes);
    query.set("authorization", token);
    assert.equal((await open(query, new Map())).status, 200);
    await guest.leave();
    assert.equal((await open(query, new Map())).code, "hub:topic_forbidden", "S14");
    const [one] = await hosts(1);
    assert.equal((await join([token, one?.key.token ?? ""])).status, 422, "17 topics");
    assert.equal((await join(["x.y.z"])).status, 401);
    assert.equal((await join(Array.from({ length: 17 }, () => token))).status, 422);
  });

  it("follows a lobby by the token of the seat that is left, when one of its two seats is gone", async () => {
    const [held] = await hosts(1);
    assert.ok(held);
    const guest = await new Emberline({ url: app.url }).join(held.code, "Grace");
    const tokens = [guest, held].map(({ key }) => key.token);
    const made = await app.client.request("POST", "/v1/hub/token", { body: { tokens } });
    const { token, topics } = made.body as { token: string; topics: string[] };
    assert.deepEqual(topics, [topicOf(held.code)]);
    await guest.leave();
    const query = queryOf([held.code]);
    query.set("authorization", token);
    assert.equal((await open(query, new Map())).status, 200);
  });
});
