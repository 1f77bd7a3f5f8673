import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Emberline, type Clock, type Guest } from "../../../../server/web/client/emberline.ts";
import { answer, refusedWith, startFaulty } from "./faulty-service.ts";
import { answerStatus, frame, key, lobby, stream } from "./stream-seat.ts";

const session = {
  access_token: "guest",
  reclaim_token: "again",
  expires_in: 3_600,
  player: { id: 7, name: "Guest" },
};

/** Answers every request of a seat; its stream ends after one event. */
const startService = () =>
  startFaulty((response, { path }) => {
    if (path.endsWith("/token")) return response.writeHead(204, { "X-Hub-Token": "hub" }).end();
    if (path.endsWith("/guest")) return answer(response, 201, { body: session });
    if (path.startsWith("/v1/hub"))
      return stream(response, frame("lobby.ended", 2, { lobby: lobby(2, "finished") }));
    if (path.endsWith("/status")) return answerStatus(response, lobby(1));
    answer(response, 200, { body: {} });
  });

describe("a client in another runtime", () => {
  it("calls every function of its caller without `this`, as a browser demands of its own", async () => {
    const service = await startService();
    const called = new Map<string, unknown>();
    /** Notes its `this`, as a native function would check it. */
    const native = <A extends unknown[], R>(name: string, work: (...args: A) => R) =>
      function (this: unknown, ...args: A): R {
        called.set(name, this);
        return work(...args);
      };
    let guest: Guest | null = null;
    const clock: Clock = {
      now: native("now", () => Date.now()),
      elapsed: native("elapsed", () => performance.now()),
      random: native("random", () => 0.5),
      // Ends with its signal, like all waits here.
      sleep: native(
        "sleep",
        (_: number, signal?: AbortSignal) =>
          new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve())),
      ),
    };
    const options = {
      url: service.url,
      clock,
      fetch: native("fetch", (...args: Parameters<typeof fetch>) => fetch(...args)),
      guest: {
        load: native("load", () => guest),
        save: native("save", (now: Guest | null) => void (guest = now)),
      },
    };
    const client = new Emberline(options);
    await client.call("GET", "/v1/wallet/@me");
    const onState = native("onState", () => undefined);
    for await (const event of client.seat(key).events({ onState }))
      assert.equal(event.type, "lobby.ended");
    const accessToken = native("accessToken", () => "account");
    await new Emberline({ ...options, accessToken }).call("GET", "/v1/wallet/@me");
    await service.stop();
    const names = ["accessToken", "elapsed", "fetch", "load", "now", "onState", "save", "sleep"];
    assert.deepEqual([...called.keys()].sort(), names);
    for (const [name, self] of called) assert.equal(self, undefined, name);
  });

  it("ends with an error of its own where the responses of `fetch` have no readable body", async () => {
    const service = await startService();
    const withoutBody: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      const { ok, status, headers } = response;
      return { ok, status, headers, text: () => response.text() } as Response;
    };
    const client = new Emberline({ url: service.url, fetch: withoutBody });
    const unreadable = refusedWith("network:unreadable_stream");
    await assert.rejects(client.seat(key).events().next(), unreadable);
    const hubRequests = () => service.seen.filter(({ path }) => path.startsWith("/v1/hub")).length;
    assert.equal(hubRequests(), 1);
    await service.stop();
  });

  it("ends with that error where `fetch` would answer at the end of a stream only", async () => {
    const service = await startService();
    const own = Object.getOwnPropertyDescriptor(Response.prototype, "body");
    assert.ok(own);
    try {
      Reflect.deleteProperty(Response.prototype, "body");
      const unreadable = refusedWith("network:unreadable_stream");
      const wrapped: typeof fetch = (input, init) => fetch(input, init);
      for (const given of [{}, { fetch }, { fetch: wrapped }]) {
        const client = new Emberline({ url: service.url, ...given });
        await assert.rejects(client.seat(key).events().next(), unreadable);
      }
      await assert.rejects(new Emberline({ url: service.url }).publicLobbies().next(), unreadable);
    } finally {
      Object.defineProperty(Response.prototype, "body", own);
    }
    assert.ok(!service.seen.some(({ path }) => path.startsWith("/v1/hub")));
    await service.stop();
  });
});
