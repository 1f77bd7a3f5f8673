import { setMaxListeners } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { EmberlineError } from "../../server/web/client/emberline.ts";
import { createRandom } from "../../test/support/random.ts";
import { asManyAsAllowed } from "../bots/allowed.ts";
import { Addresses, howToGiveAddresses } from "../bots/addresses.ts";
import type { Operator } from "../bots/answers.ts";
import { Bot, describe, isCounted } from "../bots/bot.ts";
import { BotFetch, newCounts } from "../bots/fetch.ts";
import type { Arrival, BotIdentity, Run, Scenario } from "../scenario.ts";
import { within } from "./deadline.ts";
import type { GeneratorNotice, ProcessResult } from "./record.ts";
import { Recorder } from "./recorder.ts";
import { intendedArrivals, peakOf, type Load } from "./shapes.ts";

export interface GeneratorOptions {
  /** Of the run: part of every request id. */
  id: string;
  url: string;
  operator: Operator | null;
  load: Load;
  seed: number;
  /** This process among all of the run. */
  index: number;
  processes: number;
  /** Arrivals over this number under way, in the whole run, are dropped. */
  maxInFlight: number;
  /** Range of the bots' addresses; null: they claim none. */
  addresses: string | null;
  settleSeconds: number;
  /** Address of the floor, which gets a constant small load as the control; null: there is none. */
  floorUrl: string | null;
}

/** Requests per second to the floor: enough for a p99 in 20 s, too few to disturb. */
const floorPerSecond = 60;
export const floorOperation = "floor";
/** Environment variable with the options of a generator process, as JSON. */
export const optionsVariable = "BENCH_GENERATOR";
const flushEveryMs = 500;
const guestsAtOnce = 8;
/** After an interruption, and for what was aborted to end. */
const endMs = 2_000;
/** A cut stream that does not come back until then was left, or its lobby has ended. */
const reopenMs = 10_000;

/** Brings one process's share of the arrivals at their intended times, whatever the target does. */
export class Generator {
  readonly #scenario: Scenario;
  readonly #options: GeneratorOptions;
  readonly #recorder: Recorder;
  readonly #counts = newCounts();
  readonly #leaves = new Map<string, number>();
  readonly #addresses: Addresses | null;
  readonly #bots = new Set<Bot>();
  /** Aborted when no more arrivals shall come. */
  readonly #arriving = new AbortController();
  /** Aborted when nothing may go on. */
  readonly #running = new AbortController();
  readonly #run: Run;
  #state: unknown;
  #settles = false;
  #numBots = 0;
  #botsNow = 0;
  #mostBots = 0;
  #underWay = 0;
  #onIdle: () => void = () => undefined;

  constructor(
    scenario: Scenario,
    options: GeneratorOptions,
    notify: (notice: GeneratorNotice) => void,
  ) {
    const { addresses, url, operator, index, load } = options;
    this.#scenario = scenario;
    this.#options = options;
    this.#recorder = new Recorder(notify);
    this.#addresses = addresses === null ? null : new Addresses(addresses);
    for (const { signal } of [this.#arriving, this.#running]) setMaxListeners(0, signal);
    this.#run = {
      ...{ url, operator, hasAddresses: addresses !== null },
      perMinute: peakOf(load) * Math.min(60, load.seconds),
      random: this.#random(index),
      share: (total) => Math.ceil((total - index) / options.processes),
      bot: (identity) => this.#makePlayer(identity),
      guests: (count) => this.#makeGuests(count),
      leaves: (what, count) => this.#leaves.set(what, (this.#leaves.get(what) ?? 0) + count),
      signal: this.#running.signal,
    };
  }

  /** What the target lacks, in sentences; empty: nothing. */
  async check(): Promise<string[]> {
    const bot = this.#makeBot();
    const all: string[] = [];
    // In turns, because they count requests of one address.
    for (const need of this.#scenario.needs ?? []) {
      const missing = await this.#withinLimits(need.check(bot, this.#run));
      if (missing !== null && !all.includes(missing)) all.push(missing);
    }
    return all;
  }

  async setup(): Promise<void> {
    this.#state = await this.#withinLimits(this.#scenario.setup(this.#run));
  }

  /** Brings the load, which starts at `epochMs` (milliseconds since 1970). */
  async run(epochMs: number): Promise<ProcessResult> {
    const { load, settleSeconds } = this.#options;
    const startedAt = epochMs - performance.timeOrigin;
    this.#recorder.begin(startedAt, load.seconds);
    const flushing = setInterval(() => this.#recorder.flush(), flushEveryMs);
    try {
      const arriving =
        load.shape === "closed" ? this.#bringUsers(startedAt) : this.#bringArrivals(startedAt);
      await Promise.all([arriving, this.#bringControl(startedAt)]);
      const isInterrupted = this.#arriving.signal.aborted && !this.#settles;
      await this.#idle(isInterrupted ? endMs : settleSeconds * 1000);
      const unfinished = this.#underWay;
      this.#running.abort();
      await this.#idle(endMs);
      return this.#result(unfinished);
    } finally {
      clearInterval(flushing);
    }
  }

  /** Codes of the lobbies that bots follow. */
  lobbies(): string[] {
    const topics = [...this.#bots].flatMap((bot) => bot.topics());
    return topics.flatMap((topic) => /\/lobby\/([A-Z0-9]+)$/.exec(topic)?.[1] ?? []);
  }

  /** Cuts all streams of the bots; resolves to the milliseconds until each was open again. */
  async cutStreams(): Promise<number[]> {
    const cut = [...this.#bots].flatMap((bot) => bot.cutStreams());
    const ends = cut.map((one) => within(reopenMs, "the stream", one).catch(() => null));
    return (await Promise.all(ends)).filter((ms) => ms !== null);
  }

  /** Ends the load early. What is under way is given up, or may end as after a complete load (`settles`). */
  stop({ settles = false } = {}): void {
    this.#settles = settles;
    this.#arriving.abort();
  }

  /** Cleans up; what cannot be removed is named. */
  async teardown(): Promise<Record<string, number>> {
    await this.#scenario.teardown?.(this.#state, this.#run);
    this.#running.abort();
    for (const bot of this.#bots) bot.close();
    const { guests } = this.#counts;
    return { ...Object.fromEntries(this.#leaves), ...(guests > 0 ? { guests } : {}) };
  }

  async #bringArrivals(startedAt: number): Promise<void> {
    const { load, seed, index, processes, maxInFlight } = this.#options;
    if (load.shape === "closed") return;
    const most = Math.ceil(maxInFlight / processes);
    for (const { n, atMs } of intendedArrivals(load, seed)) {
      if (n % processes !== index) continue;
      const dueAt = startedAt + atMs;
      if (!(await this.#until(dueAt))) return;
      if (this.#underWay >= most) this.#recorder.dropped(dueAt);
      else void this.#arrive(n, dueAt);
    }
  }

  /** Users who arrive again as soon as they are done. */
  async #bringUsers(startedAt: number): Promise<void> {
    const { load, index, processes } = this.#options;
    if (load.shape !== "closed") return;
    const until = startedAt + load.seconds * 1000;
    await this.#until(startedAt);
    let n = index;
    const user = async () => {
      for (; performance.now() < until && !this.#arriving.signal.aborted; n += processes)
        await this.#arrive(n, performance.now());
    };
    await Promise.all(Array.from({ length: this.#run.share(load.users) }, user));
  }

  /** A small constant load on the floor, as the control: what the machine makes of the simplest request. */
  async #bringControl(startedAt: number): Promise<void> {
    const { floorUrl, index, seed, load } = this.#options;
    if (floorUrl === null || index !== 0) return;
    const bot = this.#makeBot(floorUrl, newCounts());
    const { fetch } = bot;
    const perSecond = floorPerSecond;
    const control = { shape: "constant", perSecond, seconds: load.seconds } as const;
    for (const { atMs } of intendedArrivals(control, seed)) {
      const dueAt = startedAt + atMs;
      if (!(await this.#until(dueAt))) return;
      const asked = bot.measure(floorOperation, dueAt, async () => (await fetch(floorUrl)).text());
      asked.catch(() => undefined);
    }
  }

  /** False when the load ended before. Timers are late by up to a millisecond, which counts as lateness. */
  async #until(dueAt: number): Promise<boolean> {
    const { signal } = this.#arriving;
    for (let left = dueAt - performance.now(); left > 0; left = dueAt - performance.now())
      await pause(left, undefined, { signal }).catch(() => undefined);
    return !signal.aborted;
  }

  async #arrive(n: number, dueAt: number): Promise<void> {
    const bots: Bot[] = [];
    const random = this.#random(n + 1);
    const bot: Arrival["bot"] = (identity) => {
      const made = this.#run.bot(identity);
      bots.push(made);
      return made;
    };
    const arrival: Arrival = { n, dueAt, random, bot, signal: this.#running.signal };
    this.#recorder.sent(dueAt, performance.now());
    this.#underWay += 1;
    try {
      await this.#scenario.arrive(this.#state, arrival);
    } catch (error) {
      if (!isCounted(error) && !this.#running.signal.aborted)
        this.#recorder.broken(n, describe(error));
    } finally {
      for (const one of bots) this.#release(one);
      this.#underWay -= 1;
      if (this.#underWay === 0) this.#onIdle();
    }
  }

  /** Resolves when no arrival is under way, at the latest after this time. */
  async #idle(mostMs: number): Promise<void> {
    if (this.#underWay === 0) return;
    const idle = new AbortController();
    this.#onIdle = () => idle.abort();
    await pause(mostMs, undefined, { signal: idle.signal }).catch(() => undefined);
  }

  /** Says which limit of the target refuses what comes before the load, and what to do. */
  async #withinLimits<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      if (!(error instanceof EmberlineError && error.status === 429)) throw error;
      const limits = Object.keys(this.#counts.limited).join(", ");
      const remedy = this.#run.hasAddresses ? "a wider range of --addresses" : howToGiveAddresses;
      throw new RangeError(
        `the limits of the target are reached (${limits}): try again in a minute, or ${remedy}`,
        { cause: error },
      );
    }
  }

  #result(unfinished: number): ProcessResult {
    const { errors, violations, numViolations } = this.#recorder;
    const health = this.#recorder.end();
    const mostBots = this.#mostBots;
    const requests = this.#counts;
    return { health, errors, violations, numViolations, unfinished, requests, mostBots };
  }

  #random(n: number): () => number {
    return createRandom(
      Math.imul(this.#options.seed + 1, 0x9e3779b1) ^ Math.imul(n + 1, 0x85ebca6b),
    );
  }

  #makePlayer(identity?: BotIdentity): Bot {
    this.#botsNow += 1;
    this.#mostBots = Math.max(this.#mostBots, this.#botsNow);
    return this.#makeBot(this.#options.url, this.#counts, identity);
  }

  #makeBot(url = this.#options.url, counts = this.#counts, identity: BotIdentity = {}): Bot {
    const { id, index, processes } = this.#options;
    const n = this.#numBots++ * processes + index;
    const name = `bot-${id}-${n}`;
    const fetch = new BotFetch(name, url, this.#addresses?.at(n) ?? null, counts);
    const { signal } = this.#running;
    const bot = new Bot({
      name,
      url,
      fetch,
      random: this.#random(-n - 2),
      recorder: this.#recorder,
      signal,
      ...identity,
    });
    this.#bots.add(bot);
    return bot;
  }

  #release(bot: Bot): void {
    bot.close();
    this.#bots.delete(bot);
    this.#botsNow -= 1;
  }

  #makeGuests(count: number): Promise<Bot[]> {
    return asManyAsAllowed(count, guestsAtOnce, async () => {
      const bot = this.#run.bot();
      await bot.client.guest();
      return bot;
    });
  }
}
