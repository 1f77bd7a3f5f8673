import assert from "node:assert/strict";
import { test } from "node:test";
import { nextDeadline } from "../../../actors/lobby/decide-tick.ts";
import { by, epoch, host } from "../lobby/game.ts";
import { waiting, type Owned } from "./owned.ts";

const heartbeat = (owned: Owned, id: number) => owned.ask({ type: "heartbeat", by: by(id) });
const tick = (owned: Owned) => owned.ask({ type: "tick" });
const isConnected = (owned: Owned, id: number) =>
  owned.lobby.seats.find((seat) => seat.id === id)?.isConnected;

/** Seat 2 has sent a heartbeat 14 s after it sat down, the others a later one. */
function shownOnce(): Owned {
  const owned = waiting();
  heartbeat(owned.wait(14_000), 2);
  owned.wait(46_000);
  for (const id of [host, 3]) heartbeat(owned, id);
  return owned;
}

for (const isTakenOver of [false, true])
  test(`a seat is disconnected 75 s after its last heartbeat${isTakenOver ? ", even after a takeover" : ""}`, async () => {
    const owned = shownOnce();
    if (isTakenOver) await owned.takeOver();
    tick(owned.wait(15_000));
    assert.equal(isConnected(owned, 2), true);
    assert.equal(nextDeadline(owned.lobby), epoch + 89_000);
    const count = owned.commits.length;
    tick(owned.wait(13_999));
    assert.equal(owned.commits.length, count, "nothing is due before");
    tick(owned.wait(1));
    assert.equal(isConnected(owned, 2), false);
  });

test("a clock that was ahead does not keep a seat connected", () => {
  const owned = waiting();
  heartbeat(owned.wait(14_000), 2);
  owned.wait(-3_600_000);
  for (const id of [host, 2, 3]) heartbeat(owned, id);
  tick(owned.wait(75_000));
  for (const id of [host, 2, 3]) assert.equal(isConnected(owned, id), false);
});
