import assert from "node:assert/strict";
import { test } from "node:test";
import { nextDeadline } from "../../../actors/lobby/deadlines.ts";
import { by, epoch, host } from "../lobby/game.ts";
import { waiting, type Owned } from "./owned.ts";

const beat = (owned: Owned, id: number) => owned.ask({ type: "heartbeat", by: by(id) });
const tick = (owned: Owned) => owned.ask({ type: "tick" });
const isConnected = (owned: Owned, id: number) =>
  owned.lobby.seats.find((seat) => seat.id === id)?.isConnected;

/** Seat 2 has sent a heartbeat 14 s after it sat down, the others a later one that was committed. */
function shownOnce(): Owned {
  const owned = waiting();
  const count = owned.commits.length;
  beat(owned.wait(14_000), 2);
  assert.equal(owned.commits.length, count, "not worth a commit");
  owned.wait(46_000);
  for (const id of [host, 3]) beat(owned, id);
  return owned;
}

test("a seat is gone 75 s after its last heartbeat, not after the last that was committed", () => {
  const owned = shownOnce();
  tick(owned.wait(15_000));
  assert.equal(isConnected(owned, 2), true);
  assert.equal(nextDeadline(owned.lobby), epoch + 89_000);
  const count = owned.commits.length;
  tick(owned.wait(13_999));
  assert.equal(owned.commits.length, count, "nothing is due before");
  tick(owned.wait(1));
  assert.equal(isConnected(owned, 2), false);
});

test("who takes the lobby over knows of the committed ones", async () => {
  const owned = shownOnce();
  await owned.takeOver();
  tick(owned.wait(15_000));
  assert.equal(isConnected(owned, 2), false);
});

test("a sign of life takes no room before there is one, nor after it was committed", () => {
  const owned = waiting();
  for (let n = 0; n < 4; n++)
    for (const id of [host, 2, 3]) beat(n === 0 ? owned : owned.wait(20_000), id);
  assert.equal(owned.signCount(), null);
  beat(owned.wait(1_000), 3);
  assert.equal(owned.signCount(), 1);
  beat(owned.wait(20_000), 3);
  tick(owned);
  assert.equal(owned.signCount(), null);
});

test("a clock that was ahead keeps no seat", () => {
  const owned = waiting();
  beat(owned.wait(14_000), 2);
  owned.wait(-3_600_000);
  for (const id of [host, 2, 3]) beat(owned, id);
  tick(owned.wait(75_000));
  for (const id of [host, 2, 3]) assert.equal(isConnected(owned, id), false);
});
