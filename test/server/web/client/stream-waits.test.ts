import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Emberline } from "../../../../server/web/client/emberline.ts";
import { eventually } from "../../../support/eventually.ts";
import {
  answer,
  answerFromElsewhere,
  refusal,
  startFaulty,
  statusesFromElsewhere,
  virtualClock,
} from "./faulty-service.ts";

import { answerStatus, frame, key, lobby, seatAt, stream, streamClock } from "./stream-seat.ts";

describe("a client stream waits", () => {
  it("reconnects although a proxy claims for a while that lobby, token or stream is missing", async () => {
    const numAsked = new Map<string, number>();
    const service = await startFaulty((response, { path }) => {
      if (path.endsWith("/heartbeat")) return answer(response, 200, { body: { ok: true } });
      const turn = numAsked.get(path) ?? 0;
      numAsked.set(path, turn + 1);
      if (turn < statusesFromElsewhere.length) return answerFromElsewhere(response, turn);
      if (turn === statusesFromElsewhere.length) return response.writeHead(204).end();
      if (path.endsWith("/status")) return answerStatus(response, lobby(1));
      if (path.endsWith("/token")) return response.writeHead(204, { "X-Hub-Token": "hub" }).end();
      stream(response, frame("lobby.snapshot", 2, { lobby: lobby(2, "finished") }));
    });
    const { clock } = streamClock();
    const seat = new Emberline({ url: service.url, clock }).seat(key);
    const seen: number[] = [];
    for await (const { seq } of seat.events()) seen.push(seq);
    assert.deepEqual(seen, [2]);
    const once = statusesFromElsewhere.length + 2;
    assert.deepEqual([...numAsked.values()], [once, once, once], "a good token is kept");
    await service.stop();
  });

  it("reconnects after a minute although a maintenance page asks for an hour", async () => {
    const service = await startFaulty((response, _, n) => {
      if (n === 1) response.writeHead(503, { "Retry-After": "3600" }).end("<h1>Maintenance</h1>");
      else stream(response, frame("lobbies.updated", n, { lobbies: [] })).end();
    });
    const { clock, fetch } = virtualClock();
    const lists = new Emberline({ url: service.url, clock, fetch }).publicLobbies();
    const before = clock.elapsed();
    assert.deepEqual((await lists.next()).value, []);
    const tookMs = clock.elapsed() - before;
    assert.ok(tookMs >= 60_000 && tookMs < 65_000, `${tookMs} ms`);
    await lists.return();
    await service.stop();
  });

  it("resumes with the id of an event that was hidden from it", async () => {
    const given: (string | undefined)[] = [];
    const { service, seat } = await seatAt((response, lastEventId, n) => {
      given.push(lastEventId);
      const first = frame("lobby.snapshot", 1, { lobby: lobby(1) });
      if (n === 1) stream(response, `${first}id: 2\n\nid: 3\n\n`).end();
      else stream(response, frame("lobby.ended", 4, { lobby: lobby(4, "finished") }));
    });
    const seen: number[] = [];
    for await (const { seq } of seat.events()) seen.push(seq);
    assert.deepEqual(
      [seen, given],
      [
        [1, 4],
        [undefined, "3"],
      ],
    );
    await service.stop();
  });

  it("sends a heartbeat as soon as it reconnects, not at the next half minute", async () => {
    const { service, seat } = await seatAt((response, _, n) => {
      stream(response, frame("lobby.snapshot", n, { lobby: lobby(n) }));
      if (n === 1) response.end();
    });
    const numBeats = () => service.seen.filter(({ path }) => path.endsWith("/heartbeat")).length;
    for await (const { seq } of seat.events()) {
      // Neither happens by time, which stands still here.
      await eventually("a heartbeat of this connection", () => numBeats() === seq, 10_000);
      if (seq === 2) break;
    }
    await service.stop();
  });

  it("watches with another token when the first one was stored for too long", async () => {
    const tokens: (string | undefined)[] = [];
    const service = await startFaulty((response, { path, authorization }) => {
      if (path.endsWith("/spectate"))
        return response.writeHead(204, { "X-Hub-Token": `hub-${tokens.length}` }).end();
      if (!path.startsWith("/v1/hub")) return answerStatus(response, lobby(1));
      tokens.push(authorization);
      if (tokens.length === 1) return answer(response, 401, refusal("auth:token_invalid"));
      stream(response, frame("lobby.ended", 2, { lobby: lobby(2, "finished") }));
    });
    const client = new Emberline({ url: service.url, clock: streamClock().clock });
    const spectator = await client.spectate("ABC234");
    const { value } = await spectator.events().next();
    assert.equal(value?.type, "lobby.ended");
    assert.deepEqual(tokens, ["Bearer hub-0", "Bearer hub-1"]);
    await service.stop();
  });

  it("waits at most as long as a timer can when the service asks for longer", async (t) => {
    const service = await startFaulty((response) =>
      answer(response, 503, refusal("server:unavailable"), "9999999"),
    );
    const timers = t.mock.method(globalThis, "setTimeout");
    const stop = new AbortController();
    const lists = new Emberline({ url: service.url }).publicLobbies({
      signal: stop.signal,
      onState: (state) => state === "lost" && setImmediate(() => stop.abort()),
    });
    assert.equal((await lists.next()).done, true);
    const times = timers.mock.calls.map(({ arguments: [, ms] }) => ms ?? 0);
    assert.equal(Math.max(...times), 2 ** 31 - 1);
    await service.stop();
  });
});
