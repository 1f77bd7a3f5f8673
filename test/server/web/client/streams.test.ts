import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { EmberlineError, silenceMs } from "../../../../server/web/client/emberline.ts";
import { answer, refusal } from "./faulty-service.ts";

import { type Response, frame, lobby, seatAt, stream, tryMs } from "./stream-seat.ts";

describe("a client stream", () => {
  describe("reconnects", reconnects);
  describe("continues and ends", () => {
    it("ends without waiting after the last event of a finished lobby", async () => {
      const { service, seat } = await seatAt(
        (response) => answer(response, 404, refusal("lobby:not_found")),
        () => lobby(9, "finished"),
      );
      const { done } = await seat.events({ lastEventId: "9" }).next();
      assert.equal(done, true);
      assert.equal(seat.lobby?.status, "finished");
      await service.stop();
    });

    it("resumes after a stored event with the lobby as of that event, not as this seat last saw it", async () => {
      let now = { ...lobby(1), host_name: "before" };
      const { service, seat } = await seatAt(
        (response) => stream(response, frame("lobby.spectators", 8, { spectator_count: 3 })),
        () => now,
      );
      await seat.read();
      now = { ...lobby(7), host_name: "after" };
      const events = seat.events({ lastEventId: "7" });
      await events.next();
      const { seq, host_name, spectator_count } = seat.lobby ?? {};
      assert.deepEqual([seq, host_name, spectator_count], [8, "after", 3]);
      await events.return();
      await service.stop();
    });

    it("connects when the service becomes available, however long that takes", async () => {
      let asked = 0;
      const { service, seat } = await seatAt(
        (response) => stream(response, frame("lobby.snapshot", 2, { lobby: lobby(2, "finished") })),
        () => {
          asked += 1;
          return asked < 3 ? null : lobby(1);
        },
      );
      const events = seat.events();
      const { value } = await events.next();
      assert.equal(value?.type, "lobby.snapshot");
      await events.return();
      await service.stop();
    });

    it("delivers nothing after its signal, not even events already received", async () => {
      const { service, seat } = await seatAt((response) => {
        const first = frame("lobby.snapshot", 1, { lobby: lobby(1) });
        stream(response, first + frame("lobby.spectators", 2, { spectator_count: 1 }));
      });
      const stop = new AbortController();
      const seen: number[] = [];
      for await (const { seq } of seat.events({ signal: stop.signal })) {
        seen.push(seq);
        stop.abort();
      }
      assert.deepEqual(seen, [1]);
      assert.equal(seat.lobby?.seq, 1);
      await service.stop();
    });

    it("ends with its signal after the service closed the connection while an event was handled", async () => {
      const opened: Response[] = [];
      const { service, seat } = await seatAt((response) => {
        opened.push(stream(response, frame("lobby.snapshot", 1, { lobby: lobby(1) })));
      });
      const stop = new AbortController();
      const seen: number[] = [];
      for await (const { seq } of seat.events({ signal: stop.signal })) {
        seen.push(seq);
        for (const response of opened) response.end();
        // The end of the stream arrives before this response.
        await seat.heartbeat();
        stop.abort();
      }
      assert.deepEqual(seen, [1]);
      await service.stop();
    });

    it("requests another token when its own has expired, and fails when that is refused", async () => {
      const { service, seat, tokens } = await seatAt((response, _, n) => {
        if (n === 1) stream(response, frame("lobby.snapshot", 1, { lobby: lobby(1) })).end();
        else answer(response, n === 2 ? 401 : 403, refusal("hub:topic_forbidden"));
      });
      const events = seat.events();
      await events.next();
      await assert.rejects(
        events.next(),
        (error) => error instanceof EmberlineError && error.code === "hub:topic_forbidden",
      );
      assert.equal(tokens(), 2);
      await service.stop();
    });
  });
});

function reconnects(): void {
  it("resumes with the last id after every kind of disconnection, and delivers nothing twice", async () => {
    const given: (string | undefined)[] = [];
    const { service, seat, time } = await seatAt((response, lastEventId, n) => {
      given.push(lastEventId);
      if (n === 1) {
        const text = `retry: 700\n\n${frame("lobby.snapshot", 4, { lobby: lobby(4) })}`;
        stream(response, text + frame("lobby.spectators", 5, { spectator_count: 1 })).end();
      } else if (n === 2) {
        const half = frame("lobby.spectators", 6, { spectator_count: 2 }).slice(0, -9);
        stream(response, half);
        setTimeout(() => response.destroy(), 20);
      } else if (n === 3) answer(response, 503, refusal("server:unavailable"), "9");
      else if (n === 4)
        response.writeHead(200, { "Content-Type": "text/html" }).end("<p>proxy</p>");
      else {
        const again = frame("lobby.spectators", 5, { spectator_count: 9 });
        const next = frame("lobby.spectators", 6, { spectator_count: 2 });
        const unknown = frame("lobby.fireworks", 7, {});
        const end = frame("lobby.ended", 8, { reason: "completed", lobby: lobby(8, "finished") });
        stream(response, again + next + unknown + end);
      }
    });
    const seen: string[] = [];
    for await (const { type, seq } of seat.events()) seen.push(`${type} ${seq}`);
    assert.deepEqual(seen, [
      "lobby.snapshot 4",
      "lobby.spectators 5",
      "lobby.spectators 6",
      "lobby.ended 8",
    ]);
    assert.deepEqual(given, [undefined, "5", "5", "5", "5"]);
    // The service's 700 ms, doubled with each failure, three quarters of it by jitter; then its 9 s.
    assert.deepEqual(time.pauses, [525, 1050, 9350, 4200]);
    await service.stop();
  });

  it("leaves a silent connection, and not one that is read slowly", async () => {
    const { service, seat, time } = await seatAt((response, _, n) => {
      if (n === 3) stream(response, frame("lobby.snapshot", 2, { lobby: lobby(2, "finished") }));
      else stream(response, n === 1 ? frame("lobby.snapshot", 1, { lobby: lobby(1) }) : ":\n\n");
    });
    let numOpened = 0;
    const second = Promise.withResolvers<void>();
    const onState = (state: string) => {
      if (state === "open" && ++numOpened === 2) second.resolve();
    };
    const events = seat.events({ onState });
    await events.next();
    // Nobody reads now, so the silence is caused by the consumer.
    time.pass(silenceMs + 1);
    await new Promise(setImmediate);
    const next = events.next();
    await new Promise(setImmediate);
    assert.equal(numOpened, 1);
    time.pass(silenceMs + 1);
    await second.promise;
    await new Promise(setImmediate);
    time.pass(silenceMs + 1);
    const { value } = await next;
    assert.equal(value?.type, "lobby.snapshot");
    assert.equal((await events.next()).done, true);
    await service.stop();
  });

  it("leaves a process that does not begin to answer as soon as a call would, with growing pauses", async () => {
    const asked = Array.from({ length: 3 }, () => Promise.withResolvers<void>());
    const { service, seat, time } = await seatAt((response, _, n) => {
      const held = asked[n - 1];
      if (held) held.resolve();
      else stream(response, frame("lobby.snapshot", n, { lobby: lobby(n, "finished") }));
    });
    const next = seat.events({ signal: AbortSignal.timeout(10_000) }).next();
    for (const held of asked) {
      await Promise.race([held.promise, next]);
      time.pass(tryMs);
    }
    assert.equal((await next).value?.seq, 4);
    assert.deepEqual(time.pauses, [1_500, 3_000, 6_000]);
    await service.stop();
  });

  it("leaves a dead connection although the device clock was set back", async () => {
    const { service, seat, time } = await seatAt((response, _, n) => {
      const status = n === 1 ? "waiting" : "finished";
      stream(response, frame("lobby.snapshot", n, { lobby: lobby(n, status) }));
    });
    const events = seat.events({ signal: AbortSignal.timeout(5_000) });
    await events.next();
    const next = events.next();
    await new Promise(setImmediate);
    time.setBack(3_600_000);
    time.pass(silenceMs + 1);
    assert.equal((await next).value?.seq, 2);
    await service.stop();
  });
}
