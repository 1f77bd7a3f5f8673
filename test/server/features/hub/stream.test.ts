import assert from "node:assert/strict";
import { after, before, test, describe } from "node:test";
import { openStream, StreamRefused } from "../../../support/event-stream.ts";
import { startSample, type SampleServer } from "../../http/sample.ts";
import { createLobbyLog, type LobbyLog } from "../../sse/lobby-log.ts";
import { openRaw } from "../../sse/raw-stream.ts";
import { allSeatsTaken, hubOf, lobbyHubRoutes, roomsThat } from "./hub-of-sample.ts";

const code = "PPLAAA";
const topic = `/games/trivia/lobby/${code}`;
let sample: SampleServer;
let log: LobbyLog;
const address = (query: string) => `${sample.url}/v1/hub?${query}`;

const hubToken = () =>
  sample.deps.tokens.sign("hub", "1", 60, { subscribe: [topic], lobby: code, lobby_player: 1 });

describe("the hub's stream", () => {
  before(async () => {
    sample = await startSample({
      routes: lobbyHubRoutes,
      env: { CORS_ORIGINS: "https://play.example" },
    });
    log = createLobbyLog(sample.store.url);
    const hub = hubOf(sample, log);
    Object.assign(sample.deps, { hub, rooms: allSeatsTaken });
  });
  after(async () => {
    await sample.deps.hub.drain(0);
    log.close();
    await sample.stop();
  });

  describe("open and close", () => {
    test("a stream passes the pipeline with its headers, frames and resumption", async () => {
      const abort = new AbortController();
      const head = await fetch(address("topic=/games/trivia/lobbies"), { signal: abort.signal });
      assert.equal(head.status, 200);
      assert.equal(head.headers.get("content-type"), "text/event-stream; charset=utf-8");
      assert.equal(head.headers.get("cache-control"), "no-store, no-transform");
      assert.equal(head.headers.get("x-accel-buffering"), "no");
      abort.abort();
      const stream = openStream(address(`topic=${topic}`), { token: hubToken(), reconnect: false });
      await stream.waitFor((frame) => frame.event === "lobby.snapshot", "snapshot");
      const seq = await log.publish(code, ["lobby.pick", {}], ["lobby.pick", {}]);
      await stream.waitFor((frame) => frame.id === String(seq), "message");
      stream.close();
      const resumed = openStream(address(`topic=${topic}`), {
        token: hubToken(),
        lastEventId: "1",
        reconnect: false,
      });
      await resumed.waitFor((frame) => frame.id === String(seq), "what was missed");
      assert.deepEqual(
        resumed.frames.map((frame) => frame.id),
        ["2"],
      );
      resumed.close();
    });

    test("a closed connection releases its slot", async () => {
      const places = 8;
      for (let round = 0; round < 3; round++) {
        const held = Array.from({ length: places }, () =>
          openStream(address(`topic=${topic}`), { token: hubToken(), reconnect: false }),
        );
        await Promise.all(
          held.map((stream) =>
            stream.waitFor((frame) => frame.event === "lobby.snapshot", "snapshot"),
          ),
        );
        const ninth: unknown = await openStream(address(`topic=${topic}`), {
          token: hubToken(),
          reconnect: false,
        }).ended.catch((error: unknown) => error);
        assert.ok(ninth instanceof StreamRefused && ninth.status === 429);
        for (const stream of held) stream.close();
        while ((await open()) > 0) await new Promise((resolve) => setTimeout(resolve, 5));
      }
    });

    test("other methods and refusals get a response without a stream", async () => {
      const head = await fetch(address("topic=/games/trivia/lobbies"), { method: "HEAD" });
      assert.equal(head.status, 405);
      const none = await fetch(address(`topic=${topic}`));
      assert.equal(none.status, 401);
      const body = (await none.json()) as { flash: { errors: { code: string }[] } };
      assert.match(JSON.stringify(body), /auth:required/);
      const several = await fetch(address(`topic=${topic}&topic=${topic}`));
      assert.equal(several.status, 400);
    });

    test("streams opened while others close leave no trace", async () => {
      for (let n = 0; n < 60; n++) {
        const abort = new AbortController();
        const request = fetch(address(`topic=${topic}`), {
          headers: { authorization: `Bearer ${hubToken()}` },
          signal: abort.signal,
        });
        request.catch(() => undefined);
        await new Promise((resolve) => setTimeout(resolve, n % 4));
        abort.abort();
      }
      while ((await open()) > 0) await new Promise((resolve) => setTimeout(resolve, 5));
      const stream = openStream(address(`topic=${topic}`), { token: hubToken(), reconnect: false });
      await stream.waitFor((frame) => frame.event === "lobby.snapshot", "snapshot");
      stream.close();
    });
  });
  describe("in pages and tabs", () => {
    test("a page of an allowed origin may connect with its cookie, for responses and refusals alike", async () => {
      const origin = "https://play.example";
      const cookie = `hubAuthorization=${hubToken()}`;
      const requests: [query: string, headers: Record<string, string>, status: number][] = [
        [`topic=${topic}`, { cookie }, 200],
        ["topic=/games/trivia/lobbies", {}, 200],
        [`topic=${topic}`, {}, 401],
        ["topic=*", {}, 400],
      ];
      for (const [query, headers, status] of requests) {
        const abort = new AbortController();
        const answer = await fetch(address(query), {
          headers: { origin, ...headers },
          signal: abort.signal,
        });
        assert.equal(answer.status, status);
        assert.equal(answer.headers.get("access-control-allow-origin"), origin);
        assert.equal(answer.headers.get("access-control-allow-credentials"), "true");
        assert.match(answer.headers.get("vary") ?? "", /Origin/);
        abort.abort();
      }
      const crossOrigin = await fetch(address("topic=*"), {
        headers: { origin: "https://evil.example" },
      });
      assert.equal(crossOrigin.headers.get("access-control-allow-origin"), null);
      const preflight = await fetch(address(`topic=${topic}`), {
        method: "OPTIONS",
        headers: {
          origin,
          "access-control-request-method": "GET",
          "access-control-request-headers": "authorization, cache-control, last-event-id",
        },
      });
      assert.equal(preflight.status, 204);
      const allowed = preflight.headers.get("access-control-allow-headers")?.split(", ") ?? [];
      for (const name of ["Authorization", "Cache-Control", "Last-Event-ID"])
        assert.ok(allowed.includes(name), name);
    });

    test("two tabs of one seat receive the same messages, and closing one keeps the other open", async () => {
      const tab = () =>
        openStream(address(`topic=${topic}`), { token: hubToken(), reconnect: false });
      const [one, two] = [tab(), tab()];
      for (const stream of [one, two])
        await stream.waitFor((frame) => frame.event === "lobby.snapshot", "snapshot");
      const first = await log.publish(code, ["lobby.pick", {}]);
      for (const stream of [one, two])
        await stream.waitFor((frame) => frame.id === String(first), "message");
      one.close();
      const second = await log.publish(code, ["lobby.pick", {}]);
      await two.waitFor(
        (frame) => frame.id === String(second),
        "message after the other tab closed",
      );
      assert.deepEqual(
        two.frames.map((frame) => frame.event),
        ["lobby.snapshot", "lobby.pick", "lobby.pick"],
      );
      two.close();
    });
  });
  describe("end in order", () => {
    test("a busy service gives an EventSource a retry delay and other clients a 503", async () => {
      const { rooms } = sample.deps;
      const busy = roomsThat(async () => ({ ok: false, code: "server:unavailable" }));
      Object.assign(sample.deps, { rooms: busy });
      const get = (accept: string) =>
        fetch(address(`topic=${topic}`), {
          headers: { authorization: `Bearer ${hubToken()}`, accept },
        });
      const browser = await get("text/event-stream");
      assert.equal(browser.status, 200);
      assert.equal(browser.headers.get("content-type"), "text/event-stream; charset=utf-8");
      assert.match(await browser.text(), /^retry: \d{3,4}\n\n$/);
      assert.equal((await get("*/*")).status, 503);
      Object.assign(sample.deps, { rooms });
    });

    test("a draining process ends streams in order, and answers new requests with a stream that ends", async () => {
      const url = address(`topic=${topic}`);
      const stream = await openRaw(`${url}&authorization=${hubToken()}`);
      await stream.waitForText("lobby.snapshot");
      await sample.deps.hub.drain(0);
      await stream.waitForText("retry: ");
      for (const query of ["", "topic=*", `topic=${topic}`, "topic=/games/trivia/lobbies"]) {
        const answer = await fetch(address(query));
        assert.equal(answer.status, 200, query);
        assert.equal(answer.headers.get("content-type"), "text/event-stream; charset=utf-8");
        assert.equal(answer.headers.get("connection"), "close");
        const retryMs = Number(/^retry: (\d+)\n\n$/.exec(await answer.text())?.[1]);
        assert.ok(retryMs >= 500 && retryMs <= 5_000, `${retryMs}`);
      }
      while (!stream.isEnded()) await new Promise((resolve) => stream.socket.once("data", resolve));
      // A header line between the chunks would break clients.
      assert.doesNotMatch(stream.chunks.join(""), /Connection/i);
      stream.socket.destroy();
    });
  });
});

async function open(): Promise<number> {
  const { values } = await sample.deps.metrics.hubStreams.get();
  return values.find(({ labels }) => labels.topic === "lobby")?.value ?? 0;
}
