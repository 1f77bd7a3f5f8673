import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { nextDeadline } from "../../../actors/lobby/deadlines.ts";
import { evolve } from "../../../actors/lobby/evolve.ts";
import { needsQuestions } from "../../../actors/lobby/questions.ts";
import { resultSheet } from "../../../actors/lobby/result-sheet.ts";
import { listingOf } from "../../../actors/lobby/snapshot.ts";
import type { Asker, Lobby, LobbyCommand } from "../../../actors/lobby/types.ts";
import {
  by,
  context,
  createCommand,
  Game,
  questions,
  seat,
  secretOf,
  type GameOptions,
} from "./game.ts";

const maxPlayers = 4;
type Step = { waitMs: number; command: (lobby: Lobby) => LobbyCommand };

const asker: fc.Arbitrary<Asker> = fc.oneof(
  { weight: 6, arbitrary: fc.constant(by(1)) },
  { weight: 6, arbitrary: fc.integer({ min: 2, max: 6 }).map((id) => by(id)) },
  { weight: 1, arbitrary: fc.integer({ min: 50, max: 52 }).map((id) => by(null, id)) },
  { weight: 1, arbitrary: fc.constant(by(null)) },
);
const index = fc.oneof(
  { weight: 5, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: fc.integer({ min: -1, max: 3 }) },
);
const choice = fc.integer({ min: -1, max: 3 });

const command: fc.Arbitrary<Step["command"]> = fc.oneof(
  {
    weight: 4,
    arbitrary: fixed(
      fc.record({
        type: fc.constant("join" as const),
        seat: fc
          .tuple(fc.integer({ min: 2, max: 6 }), fc.constantFrom(null, 50, 51))
          .map(([id, account]) => seat(id, account)),
        by: asker,
      }),
    ),
  },
  {
    weight: 2,
    arbitrary: fixed(
      fc.record({
        type: fc.constant("leave" as const),
        by: asker.filter((one) => one.seatId !== 1),
      }),
    ),
  },
  {
    weight: 1,
    arbitrary: fixed(
      fc.record({
        type: fc.constant("kick" as const),
        by: asker,
        seatId: fc.integer({ min: 1, max: 6 }),
        ban: fc.boolean(),
      }),
    ),
  },
  {
    weight: 1,
    arbitrary: fixed(
      fc.record({
        type: fc.constant("settings" as const),
        by: asker,
        changes: fc.constantFrom(
          {},
          { timer: 10 },
          { mode: "coop" as const },
          { mode: "versus" as const },
          { review: true },
          { num_questions: null },
          { num_questions: 2 },
        ),
      }),
    ),
  },
  { weight: 2, arbitrary: fixed(fc.record({ type: fc.constant("prepare" as const), by: asker })) },
  {
    weight: 5,
    arbitrary: fc.tuple(asker, fc.nat({ max: 9 })).map(([who, stale]) => (lobby: Lobby) => ({
      type: "start" as const,
      by: who,
      revision: lobby.settingsRevision - (stale === 0 ? 1 : 0),
      questions: questions(100, lobby.settings.num_questions ?? 10),
    })),
  },
  {
    weight: 12,
    arbitrary: fixed(
      fc.record({ type: fc.constant("pick" as const), by: asker, selectedIndex: choice, index }),
    ),
  },
  {
    weight: 12,
    arbitrary: fixed(
      fc.record({
        type: fc.constant("answer" as const),
        by: asker,
        selectedIndex: choice,
        claimedMs: fc.nat({ max: 40_000 }),
        index,
      }),
    ),
  },
  {
    weight: 3,
    arbitrary: fixed(fc.record({ type: fc.constant("lock" as const), by: asker, index })),
  },
  {
    weight: 8,
    arbitrary: fixed(fc.record({ type: fc.constant("next" as const), by: asker, index })),
  },
  {
    weight: 3,
    arbitrary: fixed(
      fc.record({
        type: fc.constantFrom(
          "reveal" as const,
          "heartbeat" as const,
          "read" as const,
          "check_seat" as const,
          "abandon_start" as const,
        ),
        by: asker,
      }),
    ),
  },
  { weight: 6, arbitrary: fixed(fc.constant({ type: "tick" as const })) },
  {
    weight: 3,
    arbitrary: fc.nat({ max: 10 }).map((count) => (lobby: Lobby) => ({
      type: "add_questions" as const,
      firstIndex: lobby.questions.length,
      questions: questions(100 + lobby.questions.length, count),
    })),
  },
  {
    weight: 1,
    arbitrary: fixed(
      fc.oneof(
        fc.constant({ type: "result_queued" as const }),
        fc.constant({ type: "operator_end" as const }),
        fc.record({ type: fc.constant("end" as const), by: asker }),
      ),
    ),
  },
  { weight: 1, arbitrary: fixed(fc.constant(createCommand())) },
);

function fixed(commands: fc.Arbitrary<LobbyCommand>): fc.Arbitrary<Step["command"]> {
  return commands.map((one) => () => one);
}

const waitMs = fc.oneof(
  { weight: 5, arbitrary: fc.nat({ max: 2_500 }) },
  { weight: 2, arbitrary: fc.nat({ max: 40_000 }) },
  { weight: 1, arbitrary: fc.nat({ max: 200_000 }) },
);
const steps = fc.array(fc.record({ waitMs, command }), { minLength: 20, maxLength: 120 });
const options: fc.Arbitrary<GameOptions> = fc
  .record({
    mode: fc.constantFrom("coop" as const, "versus" as const),
    num_questions: fc.constantFrom(2, 4, null),
    review: fc.boolean(),
  })
  .map((settings) => ({ maxPlayers, settings }));

/** Plays the steps on top of a lobby with two seats, half of the time started already. */
function play(
  setup: GameOptions,
  isStarted: boolean,
  script: Step[],
  check: (game: Game) => void,
): Game {
  const game = new Game();
  game.do(createCommand(setup));
  game.do({ type: "join", seat: seat(2, 50), by: by(null, 50) });
  if (isStarted)
    game.do({
      type: "start",
      by: by(1),
      revision: 0,
      questions: questions(100, setup.settings?.num_questions ?? 10),
    });
  for (const step of script) {
    game.wait(step.waitMs).run(step.command(game.state));
    check(game);
  }
  return game;
}

const runs = { numRuns: 400 };
const property = (check: (game: Game) => void, atEnd: (game: Game) => void = () => {}) =>
  fc.assert(
    fc.property(options, fc.boolean(), steps, (setup, isStarted, script) =>
      atEnd(play(setup, isStarted, script, check)),
    ),
    runs,
  );

test("whatever is asked, seats, scores and numbers stay consistent", () => {
  const reached = new Set<string>();
  property((game) => {
    const { lobby, messages } = { lobby: game.state, messages: game.messages };
    assert.equal(lobby.seq, messages.length);
    assert.ok(lobby.seats.length <= maxPlayers);
    assert.equal(lobby.seats.filter((one) => one.isHost).length, 1);
    const accounts = lobby.seats.flatMap((one) => one.accountId ?? []);
    assert.equal(new Set(accounts).size, accounts.length);
    for (const one of [...lobby.seats, ...lobby.formerSeats]) {
      const own = lobby.played.flatMap((played) =>
        played.results.filter((result) => result.seatId === one.id),
      );
      assert.equal(
        one.score,
        own.reduce((sum, result) => sum + result.pointsEarned, 0),
      );
      assert.equal(one.numCorrect, own.filter((result) => result.isCorrect).length);
      assert.ok(one.bestStreak >= one.streak);
    }
    for (const { results } of [...lobby.played, { results: lobby.round?.results ?? [] }])
      assert.equal(new Set(results.map((result) => result.seatId)).size, results.length);
    assert.deepEqual(
      lobby.played.map((played) => played.index),
      [...lobby.played.keys()],
    );
    assert.ok(lobby.played.length <= lobby.questions.length);
    assert.ok(!needsQuestions(lobby), "low on questions without asking for more");
    reached.add(lobby.endReason ?? lobby.status);
  });
  for (const state of [
    "waiting",
    "in_progress",
    "completed",
    "host_ended",
    "host_timeout",
    "operator",
  ])
    assert.ok(reached.has(state), `the sequences never reached ${state}`);
});

test("nothing shows an answer before its reveal", () => {
  let open = 0;
  property((game) => {
    const { round, played, questions: drawn, status } = game.state;
    const closed = new Set(played.map((one) => one.questionId));
    const secrets = drawn
      .filter((one) => !closed.has(one.id))
      .map((one) => `"${secretOf(one.id)}"`);
    const seen =
      JSON.stringify([game.snapshot(), game.messages.slice(-3)]) + listingOf(game.state, context);
    for (const secret of secrets) assert.ok(!seen.includes(secret));
    if (status !== "in_progress" || !round?.isOpen) return;
    open += 1;
    assert.equal(game.snapshot().reveal, null);
    for (const key of [
      "correct_index",
      "is_correct",
      "correctIndex",
      "points_earned",
      "selected_index",
    ])
      assert.ok(!JSON.stringify(game.snapshot()).includes(`"${key}"`), key);
    const beforeQuestion = new Map(
      played.flatMap((one) => one.results.map((result) => [result.seatId, result.score])),
    );
    for (const one of game.snapshot().players)
      assert.equal(one.score, beforeQuestion.get(one.id) ?? 0);
    const answers = game.messages.filter((message) => message.type === "lobby.answer");
    for (const { data } of answers)
      assert.deepEqual(Object.keys(data), ["player_id", "answered_player_ids"]);
  });
  assert.ok(open > 1_000, "the sequences hardly ever had an open question");
});

test("the events alone rebuild the lobby, and its text is the lobby", () => {
  property(
    () => {},
    (game) => {
      const journal: typeof game.events = JSON.parse(JSON.stringify(game.events));
      const rebuilt = journal.reduce<Lobby | null>(evolve, null);
      assert.deepEqual(rebuilt, game.state);
      assert.deepEqual(JSON.parse(JSON.stringify(game.state)), game.state);
      assert.deepEqual(
        JSON.parse(JSON.stringify(resultSheet(game.state))),
        resultSheet(game.state),
      );
    },
  );
});

test("the deadline is exact: no tick does anything before it, and one serves it", () => {
  property((game) => {
    const due = nextDeadline(game.state);
    if (due === null || game.state.status === "finished") return;
    const { now } = game;
    if (due > now) {
      game.now = due - 1;
      assert.deepEqual(game.do({ type: "tick" }), []);
    }
    game.now = Math.max(now, due);
    // Only on a copy, or every lobby would run through its deadlines and end.
    const live = game.lobby;
    game.lobby = structuredClone(game.state);
    const [events, messages] = [game.events.length, game.messages.length];
    assert.ok(game.do({ type: "tick" }).length > 0, "the tick found nothing to do");
    const after = nextDeadline(game.state);
    assert.ok(game.state.endReason !== null || (after !== null && after > game.now));
    game.lobby = live;
    game.events.length = events;
    game.messages.length = messages;
    game.now = now;
  });
});

test("a clock that jumps to and fro breaks nothing", () => {
  const jumps = fc.array(
    fc.record({ waitMs: fc.integer({ min: -5_000_000, max: 5_000_000 }), command }),
    { maxLength: 60 },
  );
  fc.assert(
    fc.property(options, jumps, (setup, script) => {
      play(setup, true, script, (game) => {
        assert.equal(game.state.seq, game.messages.length);
        for (const played of game.state.played)
          for (const { pointsEarned } of played.results)
            assert.ok(pointsEarned >= 0 && pointsEarned <= 1_200);
      });
    }),
    runs,
  );
});
