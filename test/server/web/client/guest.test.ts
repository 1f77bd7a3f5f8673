import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Emberline, type Guest } from "../../../../server/web/client/emberline.ts";
import {
  answer,
  answerFromElsewhere,
  refusedWith,
  startFaulty,
  statusesFromElsewhere,
  virtualClock,
} from "./faulty-service.ts";

type Handle = Parameters<typeof startFaulty>[0];

describe("a guest account that several calls wait for", () => {
  it("is created once; each call ends with its own signal and at its own deadline", async () => {
    const held = Promise.withResolvers<Parameters<Handle>[0]>();
    const service = await startFaulty((response) => held.resolve(response));
    const time = virtualClock();
    const { clock, fetch } = time;
    const client = new Emberline({ url: service.url, clock, fetch });
    const stop = new AbortController();
    const given = [
      client.guest({ signal: stop.signal }),
      client.join("ABC234", "Ada", { signal: stop.signal }),
    ];
    const brief = client.join("ABC234", "Grace", { deadlineMs: 3_000 });
    const unlimited = client.guest();
    const response = await held.promise;
    const rejected = given.map((one) => assert.rejects(one, /enough/));
    stop.abort(new Error("enough"));
    await Promise.all(rejected);
    const late = assert.rejects(brief, refusedWith("network:timeout"));
    time.pass(3_000);
    await late;
    const tokens = { access_token: "a", reclaim_token: "r", expires_in: 900 };
    answer(response, 200, { body: { ...tokens, player: { id: 7, name: "Guest" } } });
    assert.equal((await unlimited).player_id, 7);
    assert.equal(service.seen.length, 1);
    await service.stop();
  });
});

describe("a stored guest account", () => {
  it("is kept although a proxy refuses its reclaim token for a while", async () => {
    const service = await startFaulty((response, { body }, number) => {
      if (number <= statusesFromElsewhere.length) return answerFromElsewhere(response, number - 1);
      const { reclaimToken = "" } = JSON.parse(body) as { reclaimToken?: string };
      const player = { id: reclaimToken === "kept" ? 7 : 8, name: "Guest" };
      answer(response, 200, { body: { access_token: "new", expires_in: 900, player } });
    });
    const expired = { access_token: "old", expires_at_ms: 0, reclaim_token: "kept" };
    let kept: Guest | null = { player_id: 7, name: "Guest", ...expired };
    const guest = { load: () => kept, save: (one: Guest | null) => (kept = one) };
    const { clock, fetch } = virtualClock();
    const client = new Emberline({ url: service.url, clock, fetch, guest });
    assert.equal((await client.guest()).player_id, 7);
    assert.equal(kept.reclaim_token, "kept");
    await service.stop();
  });
});

describe("the access token of a guest", () => {
  it("is renewed in time, even if the clock is set back, in this visit or before the next", async () => {
    const service = await startFaulty((response, _, number) => {
      const tokens = { access_token: `a${number}`, reclaim_token: "r", expires_in: 900 };
      answer(response, 200, { body: { ...tokens, player: { id: 7, name: "Guest" } } });
    });
    let kept: Guest | null = null;
    const guest = { load: () => kept, save: (one: Guest | null) => (kept = one) };
    const time = virtualClock();
    const { clock, fetch } = time;
    const visit = () => new Emberline({ url: service.url, clock, fetch, guest });
    const first = visit();
    const token = async (client: Emberline) => (await client.guest()).access_token;
    assert.equal(await token(first), "a1");
    time.setBack(300_000);
    time.pass(800_000);
    assert.equal(await token(first), "a1");
    time.pass(50_000);
    assert.equal(await token(first), "a2", "by the clock it has five minutes left");
    time.setBack(86_400_000);
    assert.equal(await token(visit()), "a3", "nobody gave it for a day");
    assert.equal(await token(visit()), "a3");
    time.setBack(-86_400_000);
    assert.equal(await token(visit()), "a4");
    assert.deepEqual(
      service.seen.map(({ body }) => JSON.parse(body)),
      [{}, ...Array.from({ length: 3 }, () => ({ reclaimToken: "r" }))],
    );
    await service.stop();
  });
});
