import type { Bot } from "./bot.ts";
import type { Follower } from "./follower.ts";

interface Delivery {
  bot: Bot;
  dueAt: number;
  missing: Set<Follower>;
}

/** Messages at once under way; the oldest is given up beyond it. */
const maxUnderWay = 10_000;

/** Measures the time from an intended start to the last follower that receives what it caused. */
export class Deliveries {
  readonly #figure: string;
  readonly #underWay = new Map<string, Delivery>();

  /** `figure`: its name in the report, such as "answer to last subscriber". */
  constructor(figure: string) {
    this.#figure = figure;
  }

  /** All of the followers shall receive `message`, which is due at `dueAt` (`performance.now()`). */
  expect(message: string, bot: Bot, dueAt: number, followers: Iterable<Follower>): void {
    const [oldest] = this.#underWay.keys();
    if (oldest !== undefined && this.#underWay.size >= maxUnderWay) this.#underWay.delete(oldest);
    this.#underWay.set(message, { bot, dueAt, missing: new Set(followers) });
  }

  /** Was refused. */
  forget(message: string): void {
    this.#underWay.delete(message);
  }

  received(message: string, follower: Follower): void {
    const delivery = this.#underWay.get(message);
    if (!delivery || !this.#isLast(message, delivery, follower)) return;
    delivery.bot.figure(this.#figure, performance.now() - delivery.dueAt);
  }

  /** Is not waited for any more. */
  left(follower: Follower): void {
    for (const [message, delivery] of this.#underWay) this.#isLast(message, delivery, follower);
  }

  #isLast(message: string, { missing }: Delivery, follower: Follower): boolean {
    if (!missing.delete(follower) || missing.size > 0) return false;
    return this.#underWay.delete(message);
  }
}
