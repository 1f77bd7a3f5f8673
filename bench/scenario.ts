import type { Operator } from "./bots/answers.ts";
import type { Bot, BotOptions } from "./bots/bot.ts";
import type { Beside, Happened } from "./load/beside.ts";
import type { Load } from "./load/shapes.ts";
import type { Service } from "../test/support/process.ts";

/**
 * A load test: the file `bench/scenarios/<name>.ts`, or any path, exports it as `scenario`. It reaches the service by
 * the published client of its bots and imports nothing else of the product.
 */
export interface Scenario<State = unknown> {
  /** One line for `--list`. */
  about: string;
  /** Without options of the command. `--quick` shortens it to 15 s at the same rate. */
  load: Load;
  /**
   * Seconds besides the load, as `show` measures them and every run prints: start of an own instance, setup, the end of
   * the last arrivals, teardown.
   */
  besidesSeconds?: number;
  /** What the target must have. It is checked first; an own instance gets it. */
  needs?: readonly Need[];
  /** Settings of an own instance. */
  settings?: Readonly<Record<string, string>>;
  /**
   * "read response p99 <= 50 ms", "read errors <= 0.1 %", "read rate >= 100 /s", "dropped <= 0". A budget on a figure that
   * the run does not have, or has too few samples of, is an error.
   */
  budgets: readonly string[];
  /** What arrives is a change of one room with so many streams, which `--peers` also brings to other servers. */
  peerStreams?: number;
  /** How long arrivals that are under way may take to end after the last one; default 30 s. */
  settleSeconds?: number;
  /** Runs in each generator process before the load. */
  setup(run: Run): Promise<State>;
  /** One arrival, under way beside others. What it measures is up to it: `bot.measure`. */
  arrive(state: State, arrival: Arrival): Promise<void>;
  teardown?(state: State, run: Run): Promise<void>;
}

/** Something that a scenario needs at the target. */
export interface Need {
  /** A sentence that says what is missing and how to get it; null: it is there. */
  check(bot: Bot, run: Run): Promise<string | null>;
  /** Puts it into an own instance. */
  provide(instance: Service): Promise<void>;
  /** Goes on beside the load of an own instance. */
  beside?: (context: Beside) => Promise<Happened>;
}

/** What a scenario chooses about a bot. */
export type BotIdentity = Pick<BotOptions, "followOwner">;

/** A generator process, as a scenario sees it. */
export interface Run {
  /** Without a path. */
  url: string;
  /** Null: the run does not know it. */
  operator: Operator | null;
  /** Each bot has an address of its own. */
  hasAddresses: boolean;
  /** Most arrivals of a minute; Infinity: those of a closed load are as many as the target answers. */
  perMinute: number;
  random: () => number;
  /** This process's part of a number that is meant for the whole run. */
  share(total: number): number;
  /** A new bot with an address of its own. */
  bot(identity?: BotIdentity): Bot;
  /** Makes bots that are guests already: as many, or those that the limits of the target allow, at least one. */
  guests(count: number): Promise<Bot[]>;
  /** Names what stays at the target, besides the guests, which are counted. */
  leaves(what: string, count: number): void;
  /** Aborted when the run is over. */
  signal: AbortSignal;
}

/** A user who arrives, whether or not the target has answered the ones before. */
export interface Arrival {
  /** Counts all arrivals of the run from 0. */
  n: number;
  /** Intended start, by `performance.now()`. */
  dueAt: number;
  /** Seeded by the run and `n`. */
  random: () => number;
  /** A new bot that ends with the arrival. */
  bot(identity?: BotIdentity): Bot;
  signal: AbortSignal;
}

/** Infers the state of a scenario. */
export const defineScenario = <State>(scenario: Scenario<State>): Scenario<State> => scenario;

/** One of the list, by the seed. */
export function oneOf<T>(list: readonly T[], random: () => number): T {
  const chosen = list[Math.floor(random() * list.length)];
  if (chosen === undefined) throw new RangeError("there is nothing to choose from");
  return chosen;
}
