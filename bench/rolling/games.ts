import { withClient } from "../../server/runtime/stores/postgres.ts";
import { checkStored } from "../faults/check.ts";
import { Generator } from "../load/generator.ts";
import type { GeneratorNotice, Played, ProcessResult, Violation } from "../load/record.ts";
import { playGame } from "../bots/game.ts";
import { defineScenario } from "../scenario.ts";

/** Games one after another at each lobby, whose players never cut their connections themselves. */
const scenario = defineScenario({
  about: "games of four players",
  load: { shape: "closed", users: 1, seconds: 1 },
  budgets: [],
  settleSeconds: 180,
  async setup() {},
  arrive: (_, arrival) =>
    playGame(arrival, {
      ...{ seats: 4, questions: 4, timer: 60, thinkMs: [0, 4_000], followOwner: false },
      mode: arrival.n % 2 === 0 ? "versus" : "coop",
    }),
});

/** Until it is stopped. */
const seconds = 24 * 60 * 60;

/** Lobbies that are played one game after another; nothing that was acknowledged may be missing afterwards. */
export class Games {
  readonly #played: Played[] = [];
  readonly #generators: Generator[];
  readonly #results: Promise<ProcessResult>[];

  private constructor(urls: readonly string[], count: number) {
    const keep = (notice: GeneratorNotice) => {
      if ("played" in notice) this.#played.push(notice.played);
    };
    this.#generators = urls.map((url, index) => {
      const users = Math.ceil((count - index) / urls.length);
      const load = { shape: "closed", users, seconds } as const;
      const options = {
        ...{ id: `rolling${index}`, url, operator: null, load, seed: index, index: 0 },
        ...{ processes: 1, maxInFlight: count, addresses: null, settleSeconds: 180 },
        floorUrl: null,
      };
      return new Generator(scenario, options, keep);
    });
    const epochMs = performance.timeOrigin + performance.now();
    this.#results = this.#generators.map((one) => one.run(epochMs));
  }

  /** Each lobby is played at one of the addresses. */
  static async start(urls: readonly [string, ...string[]], count: number): Promise<Games> {
    return new Games(urls, count);
  }

  get numPlayed(): number {
    return this.#played.length;
  }

  /** Acknowledged choices. */
  get numAcknowledged(): number {
    return this.#played.reduce((sum, { choices }) => sum + choices.length, 0);
  }

  /** Plays the running games to their end, and compares what was acknowledged with the database. */
  async finish(databaseUrl: string): Promise<Violation[]> {
    for (const one of this.#generators) one.stop({ settles: true });
    const results = await Promise.all(this.#results);
    for (const one of this.#generators) await one.teardown();
    const refused = results.flatMap(({ errors }) =>
      errors.map(({ operation, code, count, samples }) => ({
        ...{
          kind: "refused",
          text: `${count} x ${operation}: ${code} ${samples[0]?.message ?? ""}`,
        },
        ...{ bot: samples[0]?.bot ?? "", requestId: samples[0]?.requestId ?? null },
      })),
    );
    const stored = await withClient(databaseUrl, (client) => checkStored(client, this.#played));
    return [...results.flatMap(({ violations }) => violations), ...refused, ...stored];
  }
}
