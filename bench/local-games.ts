import { withClient } from "../server/runtime/stores/postgres.ts";
import { createRandom } from "../test/support/random.ts";
import { Bot, type BotOptions } from "./bots/bot.ts";
import { BotFetch, newCounts } from "./bots/fetch.ts";
import { playGame, type GameOptions } from "./bots/game.ts";
import { checkStored } from "./faults/check.ts";
import type { Played } from "./load/record.ts";
import { Recorder, type Started } from "./load/recorder.ts";
import type { Arrival } from "./scenario.ts";

/** An operation that somebody waits for. */
interface Awaited {
  operation: string;
  left: number;
  resolve: () => void;
}

class WatchedRecorder extends Recorder {
  readonly awaited = new Set<Awaited>();

  override start(operation: string, dueAt: number): Started {
    for (const one of this.awaited) {
      if (one.operation !== operation || --one.left > 0) continue;
      this.awaited.delete(one);
      one.resolve();
    }
    return super.start(operation, dueAt);
  }
}

/** Games of bots that play in this process, each from its creation to its end, without a generator. */
export class LocalGames {
  readonly #url: string;
  readonly #random = createRandom(1);
  readonly #played: Played[] = [];
  readonly #bots: Bot[] = [];
  readonly #recorder = new WatchedRecorder((notice) => {
    if ("played" in notice) this.#played.push(notice.played);
  });

  constructor(url: string) {
    this.#url = url;
  }

  /** Plays as many games at once to their end. */
  async play(count: number, options: GameOptions): Promise<void> {
    const bots: Bot[] = [];
    const arrival: Omit<Arrival, "n"> = {
      ...{ dueAt: performance.now(), random: this.#random, signal: new AbortController().signal },
      bot: (identity = {}) => {
        const made = this.#bot(identity);
        bots.push(made);
        return made;
      },
    };
    const games = Array.from({ length: count }, (_, n) => playGame({ ...arrival, n }, options));
    await Promise.all(games).finally(() => bots.forEach((one) => one.close()));
  }

  /** Resolves when the bots have sent the operation so often, "answer" for example. */
  reached(operation: string, times: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#recorder.awaited.add({ operation, left: times, resolve });
    return promise;
  }

  /** Codes of the lobbies in play. */
  codes(): string[] {
    const topics = this.#bots.flatMap((bot) => bot.topics());
    return [...new Set(topics.map((topic) => topic.slice(topic.lastIndexOf("/") + 1)))];
  }

  /** Broken promises of the service, and operations that failed. */
  problems(): string[] {
    return [...this.#recorder.violations, ...this.#recorder.errors].map((one) =>
      JSON.stringify(one),
    );
  }

  /** The same, and what was acknowledged and is not in the database, once all results are stored. */
  async verify(databaseUrl: string): Promise<string[]> {
    const lost = await withClient(databaseUrl, (client) => checkStored(client, this.#played));
    return [...this.problems(), ...lost.map(({ kind, text }) => `${kind}: ${text}`)];
  }

  #bot(identity: Pick<BotOptions, "followOwner">): Bot {
    const name = `local-${this.#bots.length}`;
    const made = new Bot({
      ...{ name, url: this.#url, random: this.#random, recorder: this.#recorder, ...identity },
      fetch: new BotFetch(name, this.#url, null, newCounts()),
      signal: new AbortController().signal,
    });
    this.#bots.push(made);
    return made;
  }
}
