import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import {
  maxRecentSeats,
  maxSeatsInList,
  readRecentSeats,
  rememberSeat,
  seatListOf,
} from "../../../../server/features/rooms/domain/recent-seats.ts";
import type { Occurrence } from "../../../../server/platform/faults/batch.ts";
import { startApp, type App } from "../../../support/app.ts";
import { eventually } from "../../../support/eventually.ts";
import { listFaults } from "../../../support/faults.ts";
import { enter } from "../../../support/identity.ts";
import { ask, login, openTable, sit } from "../lobbies/seats.ts";

describe("the seats that a player took", () => {
  let app: App;
  before(async () => {
    app = await startApp();
  });
  after(() => app.stop());

  const take = (playerId: number, code: string, seatId = 1) =>
    rememberSeat(app.deps, { kind: "lobby", code, seatId, playerId });
  const read = (playerId: number) => readRecentSeats(app.deps.redis, playerId);
  const codesOf = async (playerId: number) => (await read(playerId)).map(({ code }) => code);

  it("are those of a lobby's host and guest, until the seats are given up", async () => {
    const table = await openTable(app);
    const guest = await sit(app, table.code, "Guest", await login(app));
    for (const { accountId, id } of [table.host, guest]) {
      assert.ok(accountId);
      await eventually("the seat is remembered", async () => (await read(accountId)).length === 1);
      const [seat] = await read(accountId);
      assert.deepEqual([seat?.kind, seat?.code, seat?.seatId], ["lobby", table.code, id]);
      assert.equal(await app.deps.rooms.holdsSeat("lobby", table.code, id), true);
    }
    await ask(app, "POST", `/${table.code}/leave`, {}, guest.as);
    assert.equal(await app.deps.rooms.holdsSeat("lobby", table.code, guest.id), false);
    assert.equal(await app.deps.rooms.holdsSeat("lobby", "AAAAAA", 1), false);
    assert.equal(await app.deps.rooms.holdsSeat("duel", "AAAAAA", 1), null);
  });

  it("are one for each room, newest first, and those of one player", async () => {
    for (const code of ["A", "B", "A"]) take(5_000, code);
    take(5_000 + 1_024, "C");
    await eventually("all are remembered", async () => (await codesOf(6_024)).length === 1);
    assert.deepEqual(await codesOf(5_000), ["A", "B"]);
    assert.deepEqual(await codesOf(6_024), ["C"]);
  });

  it("are bounded for a player, and for all players of a list", async () => {
    for (let n = 0; n < maxSeatsInList + 5; n++) take(7_000, `R${n}`);
    take(7_000 + 1_024, "last");
    await eventually("all are remembered", async () => (await codesOf(8_024)).length === 1);
    assert.equal((await read(7_000)).length, maxRecentSeats);
    const list = seatListOf(7_000);
    assert.equal(await app.deps.redis.llen(list), maxSeatsInList);
    assert.ok((await app.deps.redis.ttl(list)) > 86_000);
  });

  it("costs the player no seat if Redis is away", async () => {
    const redis = app.deps.redis.duplicate();
    redis.disconnect();
    const { playerId } = { playerId: (await enter(app)).player.id };
    const recorded: Occurrence[] = [];
    const deps = { ...app.deps, redis, faults: listFaults(recorded) };
    rememberSeat(deps, { kind: "lobby", code: "X", seatId: 1, playerId });
    assert.deepEqual(await read(playerId), []);
    await eventually("it is recorded", async () => recorded[0]?.place === "recent-seats");
  });
});
