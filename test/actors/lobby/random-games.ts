import type { LobbyCaller, Lobby, LobbyCommand } from "../../../actors/lobby/types.ts";
import { by, createCommand, Game, questions, seat, type GameOptions } from "./game.ts";
import { fc } from "../../support/seed.ts";

export const maxPlayers = 4;
export type Step = { waitMs: number; command: (lobby: Lobby) => LobbyCommand };

const caller: fc.Arbitrary<LobbyCaller> = fc.oneof(
  { weight: 6, arbitrary: fc.constant(by(1)) },
  { weight: 6, arbitrary: fc.integer({ min: 2, max: 6 }).map((id) => by(id)) },
  { weight: 1, arbitrary: fc.integer({ min: 50, max: 52 }).map((id) => by(null, id)) },
  { weight: 1, arbitrary: fc.constant(by(null)) },
  // A token, a login and a cookie, each of any seat: another one's, none, or a removed one.
  {
    weight: 2,
    arbitrary: fc.record({
      seatId: fc.constantFrom(null, null, 1, 2, 7),
      playerId: fc.constantFrom(null, 50, 51, 901),
      cookieSeatId: fc.constantFrom(null, 1, 2, 3, 7),
    }),
  },
);
const isOfHost = ({ seatId, playerId, cookieSeatId }: LobbyCaller) =>
  seatId === 1 || playerId === 901 || cookieSeatId === 1;
/** The host rarely leaves, since most games would otherwise end immediately. */
const leaver = fc.oneof(
  { weight: 15, arbitrary: caller.filter((one) => !isOfHost(one)) },
  { weight: 1, arbitrary: caller },
);
const index = fc.oneof(
  { weight: 5, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: fc.integer({ min: -1, max: 3 }) },
);
const choice = fc.integer({ min: -1, max: 3 });

export const command: fc.Arbitrary<Step["command"]> = fc.oneof(
  {
    weight: 4,
    arbitrary: fixed(
      fc.record({
        type: fc.constant("join" as const),
        seat: fc
          .tuple(fc.integer({ min: 2, max: 6 }), fc.constantFrom(null, 50, 51))
          .map(([id, account]) => seat(id, account)),
        by: caller,
      }),
    ),
  },
  {
    weight: 2,
    arbitrary: fixed(
      fc.record({
        type: fc.constant("leave" as const),
        by: leaver,
      }),
    ),
  },
  {
    weight: 1,
    arbitrary: fixed(
      fc.record({
        type: fc.constant("kick" as const),
        by: caller,
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
        by: caller,
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
  { weight: 2, arbitrary: fixed(fc.record({ type: fc.constant("prepare" as const), by: caller })) },
  {
    weight: 5,
    arbitrary: fc.tuple(caller, fc.nat({ max: 9 })).map(([who, stale]) => (lobby: Lobby) => ({
      type: "start" as const,
      by: who,
      revision: lobby.settingsRevision - (stale === 0 ? 1 : 0),
      questions: questions(100, lobby.settings.num_questions ?? 10),
    })),
  },
  {
    weight: 12,
    arbitrary: fixed(
      fc.record({ type: fc.constant("pick" as const), by: caller, selectedIndex: choice, index }),
    ),
  },
  {
    weight: 12,
    arbitrary: fixed(
      fc.record({
        type: fc.constant("answer" as const),
        by: caller,
        selectedIndex: choice,
        claimedMs: fc.nat({ max: 40_000 }),
        index,
      }),
    ),
  },
  {
    weight: 3,
    arbitrary: fixed(fc.record({ type: fc.constant("lock" as const), by: caller, index })),
  },
  {
    weight: 8,
    arbitrary: fixed(fc.record({ type: fc.constant("next" as const), by: caller, index })),
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
        by: caller,
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
        fc.record({ type: fc.constant("end" as const), by: caller }),
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
export const steps = fc.array(fc.record({ waitMs, command }), { minLength: 20, maxLength: 120 });
export const options: fc.Arbitrary<GameOptions> = fc
  .record({
    mode: fc.constantFrom("coop" as const, "versus" as const),
    num_questions: fc.constantFrom(2, 4, null),
    review: fc.boolean(),
    staleMs: fc.constantFrom(75_000, 75_000, 8_000),
  })
  .map(({ staleMs, ...settings }) => ({ maxPlayers, settings, timings: { staleMs } }));

/** Plays the steps on a lobby with two seats, which has started in half of the cases. */
export function play(
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
