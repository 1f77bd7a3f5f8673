import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { host, by, playing, types, waiting } from "./game.ts";

const report = (sum: number) => ({ type: "spectators", worker: "w1", count: sum, sum }) as const;
const tick = (spectators: number) => ({ type: "tick", spectators }) as const;

describe("watching a lobby", () => {
  test("is open to anyone while the lobby is public, even after it finished", () => {
    const game = waiting();
    assert.equal(game.body({ type: "spectate" }).lobby.code, "ABCDEF");
    game.do({ type: "end", by: by(host) });
    assert.equal(game.body({ type: "spectate" }).lobby.status, "finished");
  });

  test("is answered for a private lobby as if the lobby did not exist", () => {
    const game = waiting({ settings: { visibility: "private" } });
    assert.equal(game.refused({ type: "spectate" }), "lobby:not_found");
  });
});

describe("the number of spectators", () => {
  test("is published when it changes, and is part of the lobby", () => {
    const game = playing();
    assert.deepEqual(types(game.do(report(3))), ["spectators_counted"]);
    assert.deepEqual(game.last("lobby.spectators"), { spectator_count: 3 });
    assert.equal(game.snapshot().spectator_count, 3);
    assert.deepEqual(game.wait(5_000).do(report(3)), []);
  });

  test("is published every two seconds at most, by a tick when no further count arrives", () => {
    const game = playing();
    game.do(report(1));
    assert.deepEqual(game.wait(1_999).do(report(2)), []);
    assert.deepEqual(types(game.wait(1).do(tick(2))), ["spectators_counted"]);
    assert.deepEqual(game.do(tick(2)), []);
    assert.equal(game.snapshot().spectator_count, 2);
  });

  test("is not delayed by a clock that was set back", () => {
    const game = playing();
    game.do(report(1));
    assert.deepEqual(types(game.wait(-3_600_000).do(report(2))), ["spectators_counted"]);
  });

  test("keeps no lobby alive and changes nothing in a finished one", () => {
    const game = waiting();
    const { lastCommandAt } = game.state;
    game.wait(10_000).do(report(1));
    assert.equal(game.state.lastCommandAt, lastCommandAt);
    game.do({ type: "end", by: by(host) });
    assert.deepEqual(game.wait(10_000).do(report(5)), []);
  });
});
