import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  Emberline,
  EmberlineError,
  maxPauseMs,
  pauseAfter,
} from "../../../../server/web/client/emberline.ts";
import {
  answer,
  answerFromElsewhere,
  refusal,
  refusedWith,
  startFaulty,
  statusesFromElsewhere,
  virtualClock,
} from "./faulty-service.ts";
import { fc } from "../../../support/seed.ts";

const key = { code: "ABC234", token: "seat", playerId: 7 };
const ok = { body: { is_correct: true } };
const choice = { index: 3, selected_index: 1, time_taken_ms: 800 };
const soon = { deadlineMs: 10_000 };

type Handle = Parameters<typeof startFaulty>[0];

/** A seat at a faulty service, with a clock that skips waiting. */
async function seatAt(handle: Handle) {
  const service = await startFaulty(handle);
  const time = virtualClock();
  const { clock, fetch } = time;
  const seat = new Emberline({ url: service.url, clock, fetch }).seat(key);
  return { service, seat, time };
}

describe("the pause between two attempts", () => {
  it("doubles within its bounds and is never shorter than the retry time of the service", () => {
    const attempts = fc.nat({ max: 2_000 });
    const chance = fc.double({ min: 0, max: 0.999, noNaN: true });
    const asked = fc.option(fc.nat({ max: 60_000 }));
    fc.assert(
      fc.property(attempts, chance, asked, (attempt, random, retryAfterMs) => {
        const ceiling = Math.min(maxPauseMs, 250 * 2 ** Math.min(attempt, 16));
        const pause = pauseAfter(attempt, random, retryAfterMs);
        assert.ok(pause >= Math.max(ceiling / 2, retryAfterMs ?? 0));
        assert.ok(pause <= Math.max(ceiling, (retryAfterMs ?? 0) + 250));
      }),
    );
  });
});

describe("a client command", () => {
  describe("is sent again", () => {
    it("is sent again with the same key and body until it is answered", async () => {
      const { service, seat, time } = await seatAt((response, _, number) => {
        if (number === 1) response.destroy();
        else if (number === 2) answer(response, 503, refusal("server:unavailable"), "3");
        else if (number === 3) response.writeHead(502).end("<h1>bad gateway</h1>");
        else if (number === 4) answer(response, 429, refusal("rate_limit:exceeded"), "2");
        else answer(response, 200, ok);
      });
      assert.deepEqual(await seat.answer(choice), ok.body);
      assert.equal(service.seen.length, 5);
      assert.equal(new Set(service.seen.map((one) => one.key)).size, 1);
      assert.match(service.seen[0]?.key ?? "", /^[0-9a-f]{32}$/);
      for (const one of service.seen) assert.deepEqual(JSON.parse(one.body), choice);
      assert.deepEqual(time.pauses.slice(0, 2), [187.5, 3125]);
      assert.equal(time.pauses.length, 4);
      assert.ok((time.pauses[3] ?? 0) >= 2000);
      await service.stop();
    });

    it("that was sent on a closing connection is sent again on another one", async () => {
      const closed = new Set<unknown>();
      const { service, seat, time } = await seatAt((response, _, number) => {
        // Every second request reuses the previous connection and finds it closed.
        if (number % 2 === 1) return answer(response, 200, ok);
        closed.add(response.socket);
        response.socket?.resetAndDestroy();
      });
      for (let i = 0; i < 3; i++) assert.deepEqual(await seat.answer(choice), ok.body);
      const keys = service.seen.map((one) => one.key);
      assert.equal(keys.length, 5);
      assert.equal(closed.size, 2);
      assert.equal(new Set(keys).size, 3, "a command keeps its key");
      assert.deepEqual([keys[1], keys[3]], [keys[2], keys[4]]);
      assert.ok(time.pauses.every((ms) => ms <= 250));
      await service.stop();
    });

    it("does not succeed because a proxy answers in place of the service", async () => {
      const { service, seat } = await seatAt((response, _, number) => {
        const page = "<p>Welcome to our network</p>";
        if (number === 1) response.writeHead(200, { "Content-Type": "text/html" }).end(page);
        else if (number === 2) answer(response, 200, ["no envelope"]);
        else if (number === 3) answer(response, 200, { code: 200, meta: {} });
        else if (number === 4) response.writeHead(204).end();
        else answer(response, 200, ok);
      });
      assert.deepEqual(await seat.answer(choice), ok.body);
      assert.equal(service.seen.length, 5);
      await service.stop();
    });

    it("does not fail because a proxy refuses it in place of the service, and neither does a read", async () => {
      const { length } = statusesFromElsewhere;
      const { service, seat, time } = await seatAt((response, { path }, number) => {
        if (number % (length + 1) !== 0) answerFromElsewhere(response, number - 1);
        else answer(response, 200, path.endsWith("/status") ? { body: { lobby: { seq: 1 } } } : ok);
      });
      assert.deepEqual(await seat.answer(choice), ok.body);
      assert.equal((await seat.read()).lobby.seq, 1);
      assert.equal(service.seen.length, 2 * (length + 1));
      assert.ok(time.pauses.includes(2_125), "the Retry-After of a proxy counts");
      await service.stop();
    });

    it("that a proxy refused until its deadline is reported as unreachable", async () => {
      const { service, seat } = await seatAt((response, _, number) =>
        answerFromElsewhere(response, number - 1),
      );
      for (const ask of [() => seat.answer(choice, soon), () => seat.read(soon)])
        await assert.rejects(ask(), (error) => {
          assert.ok(error instanceof EmberlineError);
          assert.deepEqual([error.status, error.code], [0, "network:unreachable"]);
          assert.deepEqual([error.isPassing, error.isFinal], [true, false]);
          assert.match(String(error.cause), /something else answered.* 4\d\d/i);
          return true;
        });
      await service.stop();
    });
  });
  describe("is not repeated needlessly", () => {
    it("is not repeated when the service refuses it permanently", async () => {
      const codes = [
        [400, "lobby:question_closed"],
        [401, "lobby:token_invalid"],
        [403, "lobby:not_host"],
        [429, "lobby:too_many"],
        [500, "server:error"],
        [503, "generator:unavailable"],
      ] as const;
      const waitOf = (status: number) => (status === 503 ? {} : { retry_after: 1 });
      const { service, seat } = await seatAt((response, _, number) => {
        const [status, code] = codes[number - 1] ?? [500, "unexpected"];
        answer(response, status, refusal(code, waitOf(status)));
      });
      for (const [status, code] of codes)
        await assert.rejects(seat.answer(choice), (error) => {
          assert.ok(error instanceof EmberlineError);
          assert.deepEqual([error.status, error.code], [status, code]);
          assert.equal(error.retryAfterMs, status === 503 ? null : 1000);
          return true;
        });
      assert.equal(service.seen.length, codes.length);
      await service.stop();
    });

    it("waits for the pending questions of an endless game", async () => {
      const { service, seat } = await seatAt((response, _, number) => {
        if (number === 1) answer(response, 503, refusal("generator:unavailable"), "1");
        else answer(response, 200, { body: { lobby: { seq: 5, current_index: 10 } } });
      });
      assert.equal((await seat.next(9)).current_index, 10);
      assert.equal(service.seen.length, 2);
      await service.stop();
    });

    it("fails at its deadline with the last refusal, without a pause beyond the deadline", async () => {
      const { service, seat, time } = await seatAt((response, _, number) => {
        // Setting the clock moves no deadline.
        if (number === 2) time.setBack(3_600_000);
        answer(response, 503, refusal("server:unavailable"));
      });
      const before = time.clock.elapsed();
      await assert.rejects(seat.next(0, { deadlineMs: 10_000 }), refusedWith("server:unavailable"));
      assert.ok(time.clock.elapsed() - before < 10_000);
      // 0.19, 0.38, 0.75, 1.5 and 3 s: the next pause of 6 s would be too late.
      assert.equal(service.seen.length, 6);
      await service.stop();
    });

    it("to any path is repeated if it is a read or has a key, and is otherwise sent once", async () => {
      const service = await startFaulty((response, { path }, number) => {
        if (path === "/v1/gateway/guest") answer(response, 200, { body: guest });
        else if (number % 2 === 0) response.destroy();
        else answer(response, 200, { body: { number } });
      });
      const guest = { access_token: "a", expires_in: 3600, player: { id: 1, name: "Guest" } };
      const { clock, fetch } = virtualClock();
      const client = new Emberline({ url: service.url, clock, fetch });
      assert.deepEqual(await client.call("GET", "/v1/wallet/@me"), { number: 3 });
      const given = { key: "once", body: { award_id: "first" } };
      assert.deepEqual(await client.call("POST", "/v1/embers/@me/awards", given), { number: 5 });
      const team = client.call("POST", "/v1/games/trivia/teams", { body: { name: "Owls" } });
      await assert.rejects(team, refusedWith("network:unreachable"));
      assert.deepEqual(
        service.seen.map(({ method, path, key: sent, authorization }) => [
          `${method} ${path}`,
          sent,
          authorization,
        ]),
        [
          ["POST /v1/gateway/guest", undefined, undefined],
          ["GET /v1/wallet/@me", undefined, "Bearer a"],
          ["GET /v1/wallet/@me", undefined, "Bearer a"],
          ["POST /v1/embers/@me/awards", "once", "Bearer a"],
          ["POST /v1/embers/@me/awards", "once", "Bearer a"],
          ["POST /v1/games/trivia/teams", undefined, "Bearer a"],
        ],
      );
      assert.equal(service.seen[3]?.body, JSON.stringify(given.body));
      await service.stop();
    });

    it("is sent once on request, and without credentials when there is no token", async () => {
      const service = await startFaulty((response, _, number) => {
        if (number === 1) response.destroy();
        else answer(response, 200, { body: { number } });
      });
      const { clock, fetch } = virtualClock();
      const client = new Emberline({ url: service.url, clock, fetch, accessToken: () => null });
      const once = client.call("GET", "/v1/codex/games", { once: true });
      await assert.rejects(once, refusedWith("network:unreachable"));
      assert.deepEqual(await client.call("GET", "/v1/codex/games"), { number: 2 });
      const paths = service.seen.map(({ path, authorization }) => [path, authorization]);
      assert.deepEqual(paths, Array(2).fill(["/v1/codex/games", undefined]));
      await service.stop();
    });

    it("uses the cookies and the cache of the page only on request", async () => {
      const sent: unknown[] = [];
      const fetch: typeof globalThis.fetch = async (_, init) => {
        sent.push([init?.credentials, Object(init).cache]);
        return Response.json({ body: {} });
      };
      const accessToken = () => null;
      await new Emberline({ fetch, accessToken }).call("GET", "/v1/codex/games");
      const asPage = { credentials: "same-origin", cache: "default" } as const;
      await new Emberline({ fetch, accessToken, ...asPage }).call("GET", "/v1/codex/games");
      assert.deepEqual(sent, [
        ["omit", "no-store"],
        ["same-origin", "default"],
      ]);
    });

    it("with an unserializable body fails with the reason, and not as unreachable", async () => {
      const { clock, fetch } = virtualClock();
      const client = new Emberline({ clock, fetch, accessToken: () => "a" });
      const asked = client.call("POST", "/v1/leads/feedback", { key: "k", body: { size: 1n } });
      await assert.rejects(asked, /BigInt/);
    });

    it("leaves a process that does not answer and is sent again", async () => {
      const held = Promise.withResolvers<void>();
      const { service, seat, time } = await seatAt((response, _, number) => {
        if (number === 1) held.resolve();
        else answer(response, 200, ok);
      });
      const answered = seat.answer(choice);
      await held.promise;
      time.pass(8_000);
      assert.deepEqual(await answered, ok.body);
      assert.equal(service.seen[0]?.key, service.seen[1]?.key);
      await service.stop();
    });

    it("is aborted by its signal, in flight and between two attempts", async () => {
      const reached = Promise.withResolvers<void>();
      const { service, seat } = await seatAt(() => reached.resolve());
      const stop = new AbortController();
      const asked = seat.answer(choice, { signal: stop.signal });
      await reached.promise;
      stop.abort(new Error("enough"));
      await assert.rejects(asked, /enough/);
      await assert.rejects(seat.answer(choice, { signal: stop.signal }), /enough/);
      assert.equal(service.seen.length, 1);
      await service.stop();
    });
  });
});
