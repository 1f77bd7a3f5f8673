import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { nextDeadline } from "../../../actors/lobby/decide-tick.ts";
import type { LobbyCommand } from "../../../actors/lobby/types.ts";
import {
  answer,
  by,
  epoch,
  host,
  lock,
  next,
  pick,
  playing,
  seat,
  types,
  waiting,
  type Game,
} from "./game.ts";

const minute = 60_000;
const heartbeat = (id: number): LobbyCommand => ({ type: "heartbeat", by: by(id) });

/** Lets time pass while the given seats send heartbeats every 30 seconds. */
function alive(game: Game, ms: number, ids: number[]): void {
  const until = game.now + ms;
  while (game.now < until && game.state.status !== "finished") {
    game.pass(Math.min(30_000, until - game.now));
    for (const id of ids) game.do(heartbeat(id));
  }
}

describe("a heartbeat", () => {
  test("reconnects a seat that was marked as disconnected", () => {
    const game = waiting();
    game.wait(60_000).do(heartbeat(host));
    game.pass(15_000);
    assert.equal(game.snapshot().players[1].is_connected, false);
    assert.deepEqual(types(game.do(heartbeat(2))), ["seen"]);
    assert.equal(game.snapshot().players[1].is_connected, true);
  });

  test("is committed after a clock was set back, so that silence is noticed in time", () => {
    const game = waiting();
    game.wait(-3_600_000);
    assert.deepEqual(types(game.do(heartbeat(2))), ["seen"]);
    assert.equal(game.state.seats[1]?.lastSeenAt, game.now);
  });

  test("is answered with ok", () => assert.deepEqual(waiting().body(heartbeat(2)), { ok: true }));
});

describe("a silent seat", () => {
  test("counts as disconnected after 75 seconds and keeps its place", () => {
    const game = waiting();
    game.wait(30_000).do(heartbeat(host));
    assert.deepEqual(game.pass(44_999), []);
    assert.deepEqual(types(game.pass(1)), ["disconnected"]);
    assert.equal(game.state.seats.length, 2);
    assert.equal(game.last("lobby.host_disconnect"), undefined);
  });

  test("is measured from its last heartbeat, however close to the one before", () => {
    const game = waiting();
    game.wait(14_999);
    for (const id of [host, 2]) game.do(heartbeat(id));
    game.wait(5_000);
    game.do(heartbeat(host));
    game.pass(69_999);
    assert.equal(game.snapshot().players[1].is_connected, true);
    assert.deepEqual(types(game.pass(1)), ["disconnected"]);
    assert.equal(game.state.seats[1]?.lastSeenAt, epoch + 14_999);
  });

  test("counts as connected again after any command", () => {
    const game = playing({ settings: { mode: "coop", timer: 60, num_questions: 100 } });
    for (let i = 0; i < 6; i++) {
      game.pass(30_000);
      if (game.state.round?.isOpen) game.do(pick(2, i % 4));
      game.do(next());
      game.do(pick(2, 0));
    }
    assert.ok(game.state.seats.every((one) => one.isConnected));
    assert.ok(!types(game.events).includes("disconnected"));
  });

  test("stores no new timestamp when a stream opens right after another command", () => {
    const game = waiting();
    const open = { type: "check_seat", by: by(2), isFollowUp: true } as const;
    game.wait(20_000).do({ type: "check_seat", by: by(2) });
    assert.deepEqual(types(game.wait(4_999).do(open)), []);
    assert.deepEqual(types(game.wait(1).do(open)), ["seen"]);
    assert.deepEqual(types(game.wait(-3_600_000).do(open)), ["seen"], "the clock was set back");
    alive(game, 80_000, [host]);
    assert.deepEqual(types(game.do(open)), ["seen"], "its seat was not connected any more");
  });

  test("stays connected by tokens and streams alone, however short the permitted silence", () => {
    for (const staleMs of [1_000, 3_000, 75_000]) {
      const game = waiting({ timings: { staleMs } });
      for (let i = 0; i < 5; i++) {
        game.pass(staleMs * 0.9);
        for (const id of [host, 2]) game.do({ type: "check_seat", by: by(id), isFollowUp: true });
        game.pass(staleMs / 20);
        for (const id of [host, 2]) game.do({ type: "check_seat", by: by(id), isFollowUp: true });
      }
      assert.ok(!types(game.events).includes("disconnected"), `after ${staleMs} ms`);
    }
  });

  test("counts as connected again after commands that change nothing", () => {
    const game = playing({ settings: { mode: "coop", num_questions: 1 } });
    game.do(lock());
    game.wait(20_000);
    assert.deepEqual(types(game.do(lock())), ["seen"]);
    assert.deepEqual(types(game.wait(20_000).do({ type: "check_seat", by: by(2) })), ["seen"]);
    const open = waiting();
    assert.deepEqual(types(open.wait(20_000).do({ type: "settings", by: by(host), changes: {} })), [
      "seen",
    ]);
  });
});

describe("a silent host", () => {
  test("is announced, and the lobby ends a minute later", () => {
    for (const game of [waiting(), playing({ settings: { timer: 60 } })]) {
      const since = game.now + 75_000;
      alive(game, 75_000, [2]);
      const { host_disconnect } = game.last("lobby.host_disconnect");
      assert.deepEqual(host_disconnect, { since_ms: since, ends_at_ms: since + 60_000 });
      assert.deepEqual(game.snapshot().host_disconnect, host_disconnect);
      alive(game, 60_000, [2]);
      assert.equal(game.state.endReason, "host_timeout");
      assert.equal(game.last("lobby.ended").reason, "host_timeout");
      assert.equal(game.snapshot().host_disconnect, null);
    }
  });

  const returns: [string, () => LobbyCommand][] = [
    ["a heartbeat", () => heartbeat(host)],
    ["settings", () => ({ type: "settings", by: by(host), changes: { timer: 10 } })],
    ["a hub token", () => ({ type: "check_seat", by: by(host) })],
    ["a start", () => ({ type: "prepare", by: by(host) })],
    ["a removal", () => ({ type: "kick", by: by(host), seatId: 2, ban: false })],
  ];
  for (const [name, command] of returns)
    test(`counts as connected again after ${name}`, () => {
      const game = waiting();
      alive(game, 80_000, [2]);
      assert.ok(game.state.hostDisconnect);
      assert.equal(types(game.do(command()))[0], "host_disconnect_cleared");
      assert.deepEqual(game.last("lobby.host_disconnect"), { host_disconnect: null });
      assert.equal(game.snapshot().players[0].is_connected, true);
      game.pass(74_999);
      assert.equal(game.state.status, "waiting");
      assert.equal(game.state.hostDisconnect, null);
    });

  test("is not revived by commands of other players or by reveals", () => {
    const game = playing({ settings: { timer: 60, num_questions: 100 } });
    alive(game, 80_000, [2]);
    game.do({ type: "reveal", by: by(null) });
    game.do(heartbeat(2));
    assert.ok(game.state.hostDisconnect);
  });
});

describe("an idle lobby", () => {
  test("finishes after 30 minutes of waiting, regardless of heartbeats", () => {
    const game = waiting();
    alive(game, 30 * minute - 1, [host, 2]);
    assert.equal(game.state.status, "waiting");
    game.pass(1);
    assert.equal(game.last("lobby.ended").reason, "idle");
  });

  test("is timed from the last join or command", () => {
    const game = waiting();
    alive(game, 29 * minute, [host, 2]);
    game.do({ type: "join", seat: seat(3), by: by(null) });
    alive(game, 29 * minute, [host, 2]);
    game.do({ type: "settings", by: by(host), changes: { timer: 10 } });
    alive(game, 29 * minute, [host, 2]);
    assert.equal(game.state.status, "waiting");
  });

  test("is timed from the last removal or lock too", () => {
    const open = waiting({ guests: [2, 3] });
    alive(open, 29 * minute, [host, 2]);
    open.do({ type: "leave", by: by(2) });
    alive(open, 29 * minute, [host]);
    assert.equal(open.state.status, "waiting");
    const game = playing({ settings: { mode: "coop", timer: 60 } });
    game.wait(40_000).do(lock());
    assert.equal(game.state.lastCommandAt, game.now);
  });

  test("is timed from the last command that changed nothing, too", () => {
    const settings = { mode: "coop" as const, timer: 10 };
    const empty: LobbyCommand = { type: "settings", by: by(host), changes: {} };
    const late = playing({ settings: { ...settings, timer: 60 } });
    assert.deepEqual(types(late.wait(62_000).do(lock())), ["seen", "question_closed"]);
    const rows: [game: Game, limitMs: number, command: LobbyCommand][] = [
      [waiting(), 30 * minute, empty],
      [playing({ settings }), 15 * minute, lock()],
      [late, 15 * minute, next(host, -1)],
    ];
    for (const [game, limitMs, command] of rows) {
      game.pass(20_000);
      alive(game, limitMs - minute, [host, 2]);
      game.do(command);
      const { now } = game;
      assert.equal(game.state.lastCommandAt, now, command.type);
      alive(game, limitMs - 1, [host, 2]);
      assert.notEqual(game.state.status, "finished");
      game.pass(1);
      assert.deepEqual([game.state.endReason, game.state.finishedAt], ["idle", now + limitMs]);
    }
  });

  test("is not timed from heartbeats or hub tokens", () => {
    const game = waiting();
    game.wait(20_000).do({ type: "check_seat", by: by(host) });
    game.do(heartbeat(2));
    assert.equal(game.state.lastCommandAt, epoch);
  });

  test("finishes after 15 minutes of a game, regardless of reveals and timers", () => {
    const game = playing();
    const started = game.now;
    while (game.state.status !== "finished" && game.now - started < 20 * minute) {
      alive(game, minute, [host, 2]);
      game.do({ type: "reveal", by: by(null) });
    }
    assert.equal(game.state.endReason, "idle");
    assert.equal(game.state.finishedAt, started + 15 * minute);
  });
});

describe("a revealed last question", () => {
  test("finishes the lobby after 30 seconds", () => {
    const game = playing({ settings: { num_questions: 1 } });
    game.do(answer(2, 0));
    game.wait(1_000).do(answer(host, 0));
    assert.deepEqual(game.pass(29_999), []);
    assert.deepEqual(types(game.pass(1)), ["finished"]);
    assert.equal(game.state.endReason, "completed");
  });

  test("does not finish the lobby when another question follows", () => {
    const game = playing();
    game.do(answer(2, 0));
    game.do(answer(host, 0));
    assert.deepEqual(game.pass(31_000), []);
  });

  test("does not finish the lobby while another batch is awaited", () => {
    const game = playing({ settings: { num_questions: null } });
    for (let i = 0; i < 9; i++) game.wait(3_000).do(next());
    game.do(answer(2, 0));
    game.do(answer(host, 0));
    alive(game, 40_000, [host, 2]);
    assert.equal(game.state.status, "in_progress");
    game.do({ type: "add_questions", firstIndex: 10, questions: [] });
    game.pass(0);
    assert.equal(game.state.endReason, "completed");
  });
});

describe("a finished lobby", () => {
  test("is readable for 24 hours and then missing, although its upkeep continues", () => {
    const game = playing();
    game.do({ type: "end", by: by(host) });
    game.wait(24 * 3_600_000 - 1);
    assert.equal(game.body({ type: "read", by: by(host) }).lobby.status, "finished");
    game.wait(1);
    for (const type of ["read", "end", "leave", "heartbeat", "results"] as const)
      assert.equal(game.refused({ type, by: by(host) }), "lobby:not_found");
    assert.equal(game.refused({ type: "spectate" }), "lobby:not_found");
    assert.deepEqual(types(game.do({ type: "result_queued" })), ["result_queued"]);
  });
});

describe("the next deadline", () => {
  test("of a waiting lobby is the timeout of its stalest seat", () => {
    assert.equal(nextDeadline(waiting().state), epoch + 75_000);
  });

  test("of an open question is the end of its time plus the grace period", () => {
    assert.equal(nextDeadline(playing().state), epoch + 32_000);
  });

  test("of a finished lobby is now until the result is queued", () => {
    const game = playing();
    game.wait(500).do({ type: "end", by: by(host) });
    assert.equal(nextDeadline(game.state), game.now);
    game.do({ type: "result_queued" });
    assert.equal(nextDeadline(game.state), null);
  });

  test("decides how a late tick ends the lobby: the earliest one counts", () => {
    const revealed = playing({ settings: { num_questions: 1 } });
    revealed.do(answer(2, 0));
    revealed.do(answer(host, 0));
    revealed.wait(16 * minute).do({ type: "tick" });
    assert.equal(revealed.state.endReason, "completed");

    const hostless = playing({ settings: { num_questions: 1, timer: 60 } });
    alive(hostless, 80_000, [2]);
    assert.ok(hostless.state.hostDisconnect);
    hostless.wait(16 * minute).do({ type: "tick" });
    assert.equal(hostless.state.endReason, "completed");

    const silent = waiting();
    alive(silent, 80_000, [2]);
    silent.wait(31 * minute).do({ type: "tick" });
    assert.equal(silent.state.endReason, "host_timeout");

    const idle = waiting();
    alive(idle, 28 * minute, [host, 2]);
    idle.pass(75_000);
    assert.ok(idle.state.hostDisconnect);
    idle.wait(5 * minute).do({ type: "tick" });
    assert.equal(idle.state.endReason, "idle");
  });

  test("is served by one tick after a long pause, and the lobby ends in one way only", () => {
    const game = playing();
    const events = game.wait(3 * 3_600_000).do({ type: "tick" });
    assert.deepEqual(types(events), ["question_closed", "finished"]);
    assert.deepEqual(game.do({ type: "tick" }), []);
  });
});
