import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Reply, Settings } from "../../../actors/index.ts";
import { testStores, type TestStores } from "../../support/stores.ts";
import { bodyOf, newMember, timings, type Member } from "./fleet.ts";

interface Sender {
  by: { seatId: null; playerId: number | null; cookieSeatId?: number };
}

const account = 200;
const bearer: Sender = { by: { seatId: null, playerId: account } };
const cookieOf = (cookieSeatId: number): Sender => ({
  by: { seatId: null, playerId: null, cookieSeatId },
});
const gone: Reply = { ok: true, body: null };

describe("a leave repeated under its idempotency key by a login or a cookie", () => {
  let stores: TestStores;
  let member: Member;
  let codeCount = 0;
  before(async () => {
    stores = await testStores();
    member = await newMember(stores.redisUrl);
  });
  after(async () => {
    await member.lobbies.stop();
    await stores.stop();
  });

  /** A waiting lobby where the account holds seat 2. */
  async function waiting(): Promise<string> {
    const code = `LEAVE${"ABCDEFGH"[codeCount++]}`;
    const host = { id: 1, name: "Host", accountId: 100, avatarUrl: null };
    const settings: Settings = {
      ...{ category: null, selected_categories: [], difficulty: null, prompt: null, blend: false },
      ...{ review: false, timer: 30, num_questions: 3 },
      visibility: "public",
      mode: "coop",
    };
    const facts = { id: 1, code, realm: "default", maxPlayers: 8, timings, settings, host };
    bodyOf(await member.lobbies.ask(code, { type: "create", ...facts }));
    await join(code, 2);
    return code;
  }
  const join = async (code: string, id: number) => {
    const seat = { id, name: "Ada", accountId: account, avatarUrl: null };
    bodyOf(await member.lobbies.ask(code, { type: "join", seat, ...bearer }));
  };
  const leave = (code: string, sender: Sender, key = "K1") =>
    member.lobbies.ask(code, { type: "leave", ...sender }, key);
  const seatIn = async (code: string, sender: Sender) => {
    const reply = await member.lobbies.ask(code, { type: "read", ...sender });
    const body = JSON.parse((reply.ok && reply.body) || "{}") as { player?: { id: number } };
    return body.player?.id;
  };

  it("returns the first answer", async () => {
    for (const sender of [bearer, cookieOf(2), { by: { ...bearer.by, cookieSeatId: 2 } }]) {
      const code = await waiting();
      assert.deepEqual(await leave(code, sender), gone);
      assert.deepEqual(await leave(code, sender), gone);
      assert.deepEqual(await leave(code, sender, "K2"), {
        ok: false,
        code: "lobby:player_not_found",
      });
    }
  });

  it("keeps the seat of a player who has joined again since", async () => {
    for (const sender of [bearer, { by: { ...bearer.by, cookieSeatId: 2 } }]) {
      const code = await waiting();
      await leave(code, sender);
      await join(code, 3);
      assert.deepEqual(await leave(code, sender), gone);
      assert.equal(await seatIn(code, bearer), 3);
      assert.deepEqual(await leave(code, sender, "K2"), gone);
      assert.equal(await seatIn(code, bearer), undefined);
    }
  });

  it("does not match another player who uses the same key", async () => {
    const code = await waiting();
    await leave(code, bearer);
    const other = { by: { seatId: null, playerId: 300 } };
    assert.deepEqual(await leave(code, other), { ok: false, code: "lobby:player_not_found" });
  });

  it("is known to the worker that takes the lobby over", async () => {
    const code = await waiting();
    await leave(code, bearer);
    await join(code, 3);
    await member.lobbies.stop();
    member = await newMember(stores.redisUrl);
    assert.deepEqual(await leave(code, bearer), gone);
    assert.deepEqual(await leave(code, cookieOf(2)), gone);
    assert.equal(await seatIn(code, bearer), 3);
  });
});
