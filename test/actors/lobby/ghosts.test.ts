import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { decide } from "../../../actors/lobby/decide.ts";
import type { Lobby, LobbyCaller, LobbyCommand } from "../../../actors/lobby/types.ts";
import { by, host, playing, seat, timings, types, waiting, type Game } from "./game.ts";

const ghostMs = timings.staleMs + timings.hostGraceMs;

const join = (id: number, name = `Player ${id}`, caller: LobbyCaller = by(null)): LobbyCommand => ({
  type: "join",
  seat: { ...seat(id, caller.playerId), name },
  by: caller,
});

const idsOf = (game: Game) => game.state.seats.map(({ id }) => id);

/** Time passes with heartbeats of these seats, so that only the others are silent. */
function passWith(game: Game, ms: number, ...present: number[]): void {
  for (let left = ms; left > 0; left -= 30_000) {
    game.pass(Math.min(left, 30_000));
    for (const id of present) game.do({ type: "heartbeat", by: by(id) });
  }
}

/** A full lobby of three; the seats 2 and 3 have been silent for as long as it takes, seat 2 for longer. */
function haunted(): Game {
  const game = waiting({ maxPlayers: 3, guests: [2, 3] });
  passWith(game, 1_000, host, 3);
  passWith(game, ghostMs, host);
  return game;
}

describe("a silent seat before the start", () => {
  test("yields its place in a full lobby, the longest absent first", () => {
    const game = haunted();
    assert.deepEqual(types(game.do(join(4))), ["removed", "joined"]);
    assert.deepEqual(idsOf(game), [host, 3, 4]);
    const { player_id, reason, lobby } = game.last("lobby.player_removed");
    assert.deepEqual([player_id, reason, lobby.players.length], [2, "away", 2]);
    game.do(join(5));
    assert.deepEqual(idsOf(game), [host, 4, 5]);
    assert.equal(game.refused(join(6)), "lobby:full");
  });

  test("keeps its place until it was not connected for the grace period", () => {
    const game = waiting({ maxPlayers: 2, guests: [2] });
    passWith(game, ghostMs - 1, host);
    assert.equal(game.refused(join(4)), "lobby:full");
    game.pass(1);
    game.do(join(4));
    assert.deepEqual(idsOf(game), [host, 4]);
  });

  test("keeps its place while the lobby has another one", () => {
    const game = waiting({ maxPlayers: 3, guests: [2] });
    passWith(game, ghostMs, host);
    assert.deepEqual(types(game.do(join(4))), ["joined"]);
    assert.deepEqual(idsOf(game), [host, 2, 4]);
  });

  test("keeps its place when it is heard again, and yields after another absence", () => {
    const game = waiting({ maxPlayers: 2, guests: [2] });
    passWith(game, ghostMs, host);
    game.do({ type: "heartbeat", by: by(2) });
    assert.equal(game.refused(join(4)), "lobby:full");
    passWith(game, timings.staleMs + 30_000, host);
    assert.equal(game.refused(join(4)), "lobby:full", "the first absence does not count");
    passWith(game, 30_000, host);
    game.do(join(4));
  });

  test("yields its name, and its place with it, to who asks for the name", () => {
    const game = waiting({ maxPlayers: 3, guests: [2, 3] });
    passWith(game, ghostMs, host);
    assert.deepEqual(types(game.do(join(4, "player  3"))), ["removed", "joined"]);
    assert.deepEqual(idsOf(game), [host, 2, 4]);
    assert.equal(game.last("lobby.player_removed").player_id, 3);
  });

  test("does not help a join whose name a present player has", () => {
    const game = waiting({ maxPlayers: 3, guests: [2, 3] });
    passWith(game, ghostMs, host, 3);
    assert.equal(game.refused(join(4, "Player 3")), "lobby:name_taken");
    assert.equal(game.refused(join(4, "Player 1")), "lobby:name_taken");
    assert.deepEqual(idsOf(game), [host, 2, 3]);
  });

  test("of the host never yields", () => {
    const game = waiting({ maxPlayers: 2, guests: [2], timings: { hostGraceMs: 120_000 } });
    passWith(game, timings.staleMs + 90_000, 2);
    assert.notEqual(game.state.hostDisconnect, null);
    assert.equal(game.refused(join(4, "Player 1")), "lobby:full");
    assert.equal(game.refused(join(4)), "lobby:full");
  });

  test("is refused under its old token, and may join anew if there is a place", () => {
    const game = haunted();
    game.do(join(4));
    assert.equal(game.refused({ type: "heartbeat", by: by(2) }), "lobby:player_not_found");
    assert.equal(game.refused({ type: "check_seat", by: by(2) }), "lobby:not_member");
    game.do(join(5, "Player 2", by(2)));
    assert.equal(game.refused(join(6, "Late", by(3))), "lobby:full");
  });

  test("gives its account back, so that the player who returns is bound to the new seat", () => {
    const game = waiting({ guests: [] });
    game.do(join(2, "Ann", by(null, 50)));
    passWith(game, ghostMs, host);
    game.do(join(3, "Ann", by(null, 50)));
    assert.equal(game.state.seats.at(-1)?.accountId, 50);
  });
});

test("after the start no seat yields", () => {
  const game = playing({ maxPlayers: 2, settings: { timer: 60, num_questions: 100 } });
  passWith(game, ghostMs, host);
  assert.equal(game.state.status, "in_progress");
  assert.equal(game.refused(join(4)), "lobby:not_accepting_players");
  assert.deepEqual(idsOf(game), [host, 2]);
});

test("a lobby whose owner was away gives its silent seats the grace period from then on", () => {
  const game = waiting({ maxPlayers: 2, guests: [2] });
  game.wait(ghostMs);
  game.do({ type: "tick" });
  game.do({ type: "heartbeat", by: by(host) });
  assert.equal(game.refused(join(4)), "lobby:full");
});

test("a silent seat stored by an earlier version yields, too", () => {
  const { state, now } = haunted();
  const seats = state.seats.map(({ disconnectedAt: _, ...earlier }) => earlier);
  const stored: Lobby = { ...state, seats };
  const decision = decide(stored, join(4), now);
  assert.ok(decision.ok);
  assert.deepEqual(types(decision.events), ["removed", "joined"]);
});
