import { withClient } from "../../server/runtime/stores/postgres.ts";
import {
  addViolation,
  checkDatabase,
  checkTable,
  newVerdict,
  type Verdict,
} from "../faults/check.ts";
import { createRandom } from "../../test/survival/random.ts";
import { makeGuests, playTable, type Guest, type Played } from "../faults/table.ts";

const seats = 4;
const questions = 4;
const thinkMs = 4_000;

/**
 * Lobbies that are played one game after another. Their players repeat a command under its key until it is answered,
 * as the published client does, so nothing that was acknowledged may be missing afterwards.
 */
export class Games {
  readonly verdict = newVerdict();
  readonly #played: Played[] = [];
  readonly #guests: Guest[];
  readonly #tables: Promise<PromiseSettledResult<void>[]>;
  #isOver = false;
  #acknowledged = 0;

  private constructor(urls: readonly string[], guests: Guest[]) {
    this.#guests = guests;
    const tables = Array.from({ length: guests.length / seats }, (_, i) =>
      this.#playOn(urls[i % urls.length] ?? "", i),
    );
    this.#tables = Promise.allSettled(tables);
  }

  /** Each lobby is played at one of the addresses. */
  static async start(urls: readonly [string, ...string[]], count: number): Promise<Games> {
    return new Games(urls, await makeGuests(urls[0], count * seats));
  }

  get numPlayed(): number {
    return this.#played.length;
  }

  get numAcknowledged(): number {
    return this.#acknowledged;
  }

  /** Plays the running games to their end, and compares what was acknowledged with the database. */
  async finish(databaseUrl: string): Promise<Verdict> {
    this.#isOver = true;
    for (const table of await this.#tables)
      if (table.status === "rejected")
        addViolation(this.verdict, "lost", 1, `a table: ${String(table.reason)}`);
    const ids = this.#guests.map(({ accountId }) => accountId);
    await withClient(databaseUrl, (client) =>
      checkDatabase(this.verdict, client, this.#played, ids),
    );
    return this.verdict;
  }

  async #playOn(url: string, i: number): Promise<void> {
    const random = createRandom(i);
    const guests = this.#guests.slice(i * seats, (i + 1) * seats);
    for (let game = 0; !this.#isOver; game++) {
      const played = await playTable({
        ...{ url, guests, questions, random, thinkMs },
        ...{ followsOwner: false, isSteady: true },
        mode: (i + game) % 2 === 0 ? "versus" : "coop",
        onCode: () => undefined,
      });
      checkTable(this.verdict, played);
      this.#played.push(played);
      this.#acknowledged += played.acknowledged;
    }
  }
}
