import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { decide } from "../../../actors/lobby/decide.ts";
import { maxBans } from "../../../actors/lobby/limits.ts";
import type { LobbyCaller, LobbyCommand } from "../../../actors/lobby/types.ts";
import { by, createCommand, epoch, host, playing, seat, types, waiting } from "./game.ts";

const join = (id: number, name: string, caller: LobbyCaller = by(null)): LobbyCommand => ({
  type: "join",
  seat: { ...seat(id, caller.playerId), name },
  by: caller,
});
const heartbeat = (caller: LobbyCaller): LobbyCommand => ({ type: "heartbeat", by: caller });
const leave = (id: number): LobbyCommand => ({ type: "leave", by: by(id) });
const kick = (seatId: number, ban = false, caller = by(host)): LobbyCommand => ({
  type: "kick",
  by: caller,
  seatId,
  ban,
});

describe("creating a lobby", () => {
  test("makes a waiting lobby with the caller as host in its only seat", () => {
    const game = waiting({ guests: [] });
    assert.equal(game.state.status, "waiting");
    assert.deepEqual(
      game.snapshot().players.map((one: { id: number }) => one.id),
      [host],
    );
    assert.equal(game.state.seq, 0);
  });

  test("returns the lobby and the caller's seat", () => {
    const decision = decide(null, createCommand(), epoch);
    assert.ok(decision.ok);
    assert.deepEqual(decision.answer, { type: "lobby_and_player", seatId: host });
  });

  test("with a code in use reports a collision, even when that lobby has finished", () => {
    const game = waiting();
    for (const command of [createCommand(), createCommand()]) {
      const outcome = game.run(command);
      assert.ok(!outcome.ok);
      assert.deepEqual([outcome.code, outcome.params], ["server:unavailable", { collision: true }]);
      game.do({ type: "operator_end" });
    }
  });

  test("is the only command that a missing lobby accepts", () => {
    const commands: LobbyCommand[] = [
      { type: "read", by: by(1) },
      join(2, "A"),
      heartbeat(by(1)),
      leave(1),
      kick(2),
      { type: "tick" },
      { type: "reveal", by: by(null) },
      { type: "operator_end" },
      { type: "result_queued" },
      { type: "end", by: by(1) },
      { type: "check_seat", by: by(1) },
    ];
    for (const command of commands)
      assert.deepEqual(decide(null, command, epoch), {
        ok: false,
        rejection: { code: "lobby:not_found" },
      });
  });
});

describe("joining a lobby", () => {
  test("adds a seat, publishes it and returns the player", () => {
    const game = waiting({ guests: [] });
    const body = game.body(join(5, "Ada"));
    assert.deepEqual(body, { player: { id: 5, name: "Ada", is_host: false } });
    const message = game.last("lobby.player_joined");
    assert.equal(message.player.name, "Ada");
    assert.equal(message.lobby.players.length, 2);
    assert.equal(message.lobby.seq, 1);
  });

  test("compares names after NFKC, ignoring case and outer spaces", () => {
    const game = waiting({ guests: [] });
    game.do(join(5, "Ｊosé"));
    for (const name of ["josé", "JOSÉ", "Jose\u0301", " José "])
      assert.equal(game.refused(join(6, name)), "lobby:name_taken", name);
    game.do(join(7, "Jose"));
  });

  test("refuses a taken name, even to its owner", () => {
    const game = waiting();
    assert.equal(game.refused(join(9, "player 2", by(2))), "lobby:name_taken");
  });

  test("is refused when the lobby is full", () => {
    const game = waiting({ maxPlayers: 3, guests: [2, 3] });
    assert.equal(game.refused(join(4, "D")), "lobby:full");
    game.do(leave(3));
    game.do(join(4, "D"));
    assert.equal(game.state.seats.length, 3);
  });

  test("is possible only while the lobby waits", () => {
    assert.equal(playing().refused(join(9, "Z")), "lobby:not_accepting_players");
    const ended = waiting();
    ended.do({ type: "end", by: by(host) });
    assert.equal(ended.refused(join(9, "Z")), "lobby:not_accepting_players");
  });

  test("binds an account to its first seat only", () => {
    const game = waiting({ guests: [] });
    game.do(join(5, "One", by(null, 50)));
    game.do(join(6, "Two", by(null, 50)));
    game.do(join(7, "Host again", by(null, 901)));
    assert.deepEqual(
      game.state.seats.map((one) => one.accountId),
      [901, 50, null, null],
    );
    game.do(leave(5));
    game.do(join(8, "Three", by(null, 50)));
    assert.equal(game.state.seats.at(-1)?.accountId, 50);
  });
});

describe("finding the seat of a caller", () => {
  const rows: [name: string, caller: LobbyCaller, seatId: number | null][] = [
    ["by lobby token", by(3), 3],
    ["by lobby token before the bound seat", by(3, 50), 3],
    ["by the player bound to a seat", by(null, 50), 2],
    ["by the bound seat when the token's seat is gone", by(99, 50), 2],
    ["by the bound seat before the cookie", { ...by(null, 50), cookieSeatId: 3 }, 2],
    ["by the cookie at last", { ...by(null, 51), cookieSeatId: 3 }, 3],
    ["not at all without a credential", by(null), null],
    ["not for an anonymous player among anonymous seats", by(null, null), null],
    ["not for a foreign player", by(null, 51), null],
  ];
  for (const [name, caller, seatId] of rows)
    test(name, () => {
      const game = waiting({ guests: [] });
      game.do(join(2, "Bound", by(null, 50)));
      game.do(join(3, "Anonymous"));
      const outcome = game.run({ type: "read", by: caller });
      assert.ok(outcome.ok);
      assert.deepEqual(outcome.answer, { type: "lobby_and_player", seatId });
      const expected = seatId === null ? "lobby:player_not_found" : null;
      const answered = game.run(heartbeat(caller));
      assert.equal(answered.ok ? null : answered.code, expected);
    });

  test("refuses a hub token to non-members with 403", () => {
    const game = waiting();
    assert.equal(game.refused({ type: "check_seat", by: by(9) }), "lobby:not_member");
    assert.deepEqual(game.body({ type: "check_seat", by: by(2) }), {
      player: { id: 2, name: "Player 2", is_host: false },
    });
  });
});

describe("leaving a lobby", () => {
  test("as a guest removes the seat and publishes the reason", () => {
    const game = waiting({ guests: [2, 3] });
    assert.deepEqual(types(game.do(leave(2))), ["removed"]);
    const { player_id, reason, lobby } = game.last("lobby.player_removed");
    assert.deepEqual([player_id, reason, lobby.players.length], [2, "left", 2]);
    assert.equal(game.refused(leave(2)), "lobby:player_not_found");
  });

  test("twice with one seat's token keeps the other seats of the same login", () => {
    const game = waiting({ guests: [] });
    game.do(join(2, "Second seat", by(null, 901)));
    const caller = by(2, 901);
    game.do({ type: "leave", by: caller });
    assert.equal(game.refused({ type: "leave", by: caller }), "lobby:player_not_found");
    assert.equal(game.state.status, "waiting");
    const [seen] = game.do({ type: "check_seat", by: caller });
    assert.ok(seen?.type === "seen" && seen.seatId === host, "other calls find the login");
  });

  test("as the host ends the lobby for everyone", () => {
    for (const game of [waiting(), playing()]) {
      game.do(leave(host));
      assert.equal(game.last("lobby.ended").reason, "host_left");
      assert.equal(game.snapshot().status, "finished");
    }
  });

  test("is answered in a finished lobby, as heartbeats are, and changes nothing", () => {
    const game = playing();
    game.do({ type: "end", by: by(host) });
    game.wait(1_000_000);
    for (const id of [host, 2]) {
      assert.deepEqual(game.do(leave(id)), []);
      assert.deepEqual(game.do(heartbeat(by(id))), []);
    }
    assert.equal(game.state.seats.length, 2);
  });

  test("during the game keeps the seat for the result sheet", () => {
    const game = playing({ guests: [2, 3] });
    game.do(leave(2));
    assert.deepEqual(
      game.state.formerSeats.map((one) => one.id),
      [2],
    );
    assert.equal(game.snapshot().players.length, 2);
  });
});

describe("removing a player", () => {
  test("is allowed to the host only, for a seated guest, before the end", () => {
    const game = waiting({ guests: [2, 3] });
    assert.equal(game.refused(kick(3, false, by(2))), "lobby:not_host");
    assert.equal(game.refused(kick(99, false, by(2))), "lobby:not_host");
    assert.equal(game.refused(kick(99)), "lobby:player_not_found");
    assert.equal(game.refused(kick(host)), "lobby:host_not_removable");
    game.do(kick(3));
    assert.deepEqual(game.last("lobby.player_removed").reason, "kicked");
    game.do({ type: "end", by: by(host) });
    assert.equal(game.refused(kick(2)), "lobby:not_in_progress");
  });

  test("lets the player join again, while a ban does not", () => {
    const game = waiting({ guests: [] });
    game.do(join(2, "Ann", by(null, 50)));
    game.do(kick(2));
    game.do(join(3, "Ann", by(2, 50)));
    game.do(kick(3, true));
    const callers = [by(3), by(null, 50), { ...by(null), cookieSeatId: 3 }, by(99, 50)];
    for (const caller of callers)
      assert.equal(game.refused(join(4, "Bea", caller)), "lobby:banned");
    game.do(join(5, "Ann", by(null, 51)));
  });

  test("with a ban makes a later join fail as banned, whatever the lobby's state", () => {
    const game = waiting({ guests: [2, 3] });
    game.do(kick(3, true));
    game.do({ type: "end", by: by(host) });
    assert.equal(game.refused(join(4, "C", by(3))), "lobby:banned");
  });

  test("remembers a limited number of bans, the latest ones", () => {
    const game = waiting({ guests: [] });
    for (let id = 10; id < 10 + maxBans + 5; id++) {
      game.do(join(id, `P${id}`, by(null, id)));
      game.do(kick(id, true));
    }
    assert.equal(game.state.bannedSeats.length, maxBans);
    assert.equal(game.state.bannedAccounts.length, maxBans);
    assert.equal(game.refused(join(999, "P", by(10 + maxBans + 4))), "lobby:banned");
  });
});
