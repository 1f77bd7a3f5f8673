import { describe } from "../bots/bot.ts";
import { playGame } from "../bots/game.ts";
import { ownAddresses } from "../needs.ts";
import { defineScenario, type Arrival } from "../scenario.ts";

const mostQuestions = 6;

/**
 * Lobbies played one game after another, versus and co-op in turns, by players whose connections break every second or
 * two; half of them follow the owner of their lobby. A careful client must never be refused. `npm run survive` is this
 * with faults.
 */
export const scenario = defineScenario({
  about: "games whose players lose their connections all the time",
  load: { shape: "closed", users: 40, seconds: 60 },
  besidesSeconds: 26,
  settleSeconds: 180,
  needs: [ownAddresses("/v1/gateway/guest", ({ perMinute }) => perMinute)],
  settings: {
    HTTP_WORKERS: "4",
    WORKER_PORTS: "auto",
    LOBBY_MIN_QUESTION_MS: "0",
    // No player reconnects this often.
    RATE_LIMIT_FACTOR: "0",
  },
  budgets: ["unfinished <= 0", "violations <= 0"],
  async setup() {},
  async arrive(_, arrival) {
    const { n, random } = arrival;
    const questions = 2 + Math.floor(random() * (mostQuestions - 1));
    const mode = n % 2 === 0 ? ("versus" as const) : ("coop" as const);
    const options = { seats: 4, questions, timer: 60, mode, followOwner: random() < 0.5 };
    const paced = { thinkMs: [0, 1_500], cutMs: [500, 2_500] } as const;
    await playGame(arrival, { ...options, ...paced }).catch((error: unknown) =>
      refuse(arrival, error),
    );
  },
});

/** A limit of somebody else's target is no broken promise. */
function refuse({ bot, n, signal }: Arrival, error: unknown): never {
  const { status, message } = describe(error);
  if (!signal.aborted && status !== 429)
    bot().violation("refused", `game ${n} ended with ${message}`, null);
  throw error;
}
