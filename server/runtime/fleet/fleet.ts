import { setTimeout as sleep } from "node:timers/promises";
import type { Redis } from "ioredis";
import { CoalescedTask } from "../../platform/tasks/coalesced-task.ts";
import type { Logger } from "../../platform/log/logger.ts";
import { withTimeout } from "../../platform/time/deadline.ts";
import { raceAbort } from "../boot/signals.ts";
import { checkReleaseOrder } from "../boot/release-order.ts";
import { StartError } from "../boot/start-error.ts";
import { drainAnswers, type DrainAnswer, type FleetAnswer } from "../process-questions.ts";
import { ClockOffset } from "./clock-offset.ts";
import type { FleetInstance, InstanceEntry } from "./entry.ts";
import { fleetWaits, readLimitMs } from "./limits.ts";
import { FleetLink, type FleetQuestion } from "./link.ts";
import type { ObservedEntry, StaticEntry } from "./self.ts";
import { namesOf, readProblems, type FleetProblem } from "./problems.ts";
import {
  joinFleet,
  leaseMs,
  leaveFleet,
  readFleet,
  renewLease,
  type Joined,
  type JoinOutcome,
} from "./registry.ts";

/** Three renewals may fail before the lease ends. */
const renewMs = leaseMs / 3;
/** Between two attempts of a start whose secrets the live instances do not know. */
const joinPauseMs = 500;
const leaveLimitMs = 1_000;

export interface FleetOptions {
  redis: Redis;
  redisUrl: string;
  /** Instance id of this primary. */
  id: string;
  log: Logger;
  about: StaticEntry;
  observe: () => Promise<ObservedEntry>;
  /** Answers a question of another instance. */
  answer: (question: FleetQuestion, about: unknown) => Promise<unknown>;
  /** How long a start waits for live instances that do not know its secrets; for tests. */
  foreignMs?: number;
}

/** This instance in the fleet: its lease, what is wrong between the instances, and questions to the others. */
export class Fleet {
  readonly #options: FleetOptions;
  readonly #link: FleetLink;
  readonly #clock = new ClockOffset();
  readonly #renewal = new CoalescedTask(() => this.#renew());
  #timer: NodeJS.Timeout | null = null;
  #isMember = false;
  #outcome: JoinOutcome = "joined";
  #problems: ReadonlySet<FleetProblem["kind"]> = new Set();

  constructor(options: FleetOptions) {
    this.#options = options;
    const redisNow = () => Date.now() - this.#clock.ms;
    this.#link = new FleetLink({ ...options, redisNow });
  }

  /**
   * Registers this instance. One that shares no secret with the live ones waits until a lease of theirs would have
   * ended; StartError if they live on (BOOT-31). Then renews the lease, and answers questions.
   */
  async join(stopped: AbortSignal): Promise<void> {
    const { redis, id, log, foreignMs = leaseMs + joinPauseMs } = this.#options;
    const giveUpAt = performance.now() + foreignMs;
    await this.#register((entry) => joinFleet(redis, id, entry));
    while (this.#outcome === "secret") {
      const problem = `APP_SECRET and APP_SECRET_PREVIOUS are unknown to the instances that run on these stores, ${namesOf(await readFleet(redis))}: set one of them to the APP_SECRET of theirs`;
      if (performance.now() >= giveUpAt) throw new StartError(problem);
      log.info({ event: "fleet_secret_unknown" }, "secret unknown, waiting for leases to end");
      await sleep(joinPauseMs, null, { signal: stopped });
      await this.#register((entry) => joinFleet(redis, id, entry));
    }
    if (this.#outcome === "release") await checkReleaseOrder(redis);
    this.#isMember = true;
    await raceAbort(stopped, this.#link.start());
    this.#timer = setInterval(() => this.renew(), renewMs).unref();
  }

  /** Renews the lease with what is known now; returns at once. */
  renew(): void {
    if (!this.#isMember) return;
    this.#renewal.run().catch((error: unknown) => {
      const facts = { event: "lease_renewal_failed", reason: String(error) };
      this.#options.log.warn(facts, "lease of the instance not renewed, retrying");
    });
  }

  /** Ends the lease, after a renewal that is under way. */
  async leave(): Promise<void> {
    if (!this.#isMember) return;
    if (this.#timer) clearInterval(this.#timer);
    this.#isMember = false;
    this.#link.stop();
    const { redis, id } = this.#options;
    const ended = this.#renewal.run().catch(() => undefined);
    await withTimeout(
      ended.then(() => leaveFleet(redis, id)),
      leaveLimitMs,
    ).catch(() => undefined);
  }

  /** Whether another instance is ready to take rooms; resolves at the first that is. */
  async hasSuccessor(): Promise<boolean> {
    const asked = (await this.#others()).map(async ({ id }) => {
      const reply = await this.#link.ask(id, "successor", null, fleetWaits.successor);
      if (reply.end !== "answered" || reply.value !== true) throw new Error("it is not ready");
    });
    return Promise.any(asked).then(
      () => true,
      () => false,
    );
  }

  /** Asks all other instances; the answer of one that does not answer is null. */
  async askOthers(question: FleetQuestion, about: unknown): Promise<FleetAnswer[]> {
    return Promise.all(
      (await this.#others()).map(async ({ id, host }) => {
        const reply = await this.#link.ask(id, question, about, fleetWaits.report);
        return { instance: id, host, answer: reply.end === "answered" ? reply.value : null };
      }),
    );
  }

  /** Orders another instance to drain a worker. */
  async drain(instance: string, index: number): Promise<DrainAnswer> {
    if (!(await this.#others()).some(({ id }) => id === instance)) return "instance_not_found";
    const reply = await this.#link.ask(instance, "drain", { index }, fleetWaits.drain);
    if (reply.end === "unsent") return "instance_unreachable";
    const value = reply.end === "answered" ? reply.value : null;
    return drainAnswers.find((known) => known === value) ?? "unconfirmed";
  }

  /** Read anew, because an instance may have joined just now; none while Redis does not respond. */
  async #others(): Promise<FleetInstance[]> {
    const { redis, id } = this.#options;
    const found = await withTimeout(readFleet(redis), readLimitMs).catch(() => []);
    return found.filter((instance) => instance.id !== id);
  }

  async #renew(): Promise<void> {
    if (!this.#isMember) return;
    const { redis, id } = this.#options;
    await this.#register((entry) => renewLease(redis, id, entry));
    this.#report(await readProblems(redis));
  }

  async #register(send: (entry: InstanceEntry) => Promise<Joined>): Promise<void> {
    const { about, observe, log } = this.#options;
    const entry = { ...about, ...(await observe()), clockOffsetMs: this.#clock.ms };
    const before = Date.now();
    const { outcome, now } = await send(entry);
    this.#clock.add(before, now, Date.now());
    if (outcome === "full" && this.#outcome !== "full")
      log.warn(
        { event: "fleet_full" },
        "the registry of instances is full: this one serves, but is not among the instances",
      );
    this.#outcome = outcome;
  }

  /** Writes what begins and what ends. */
  #report(problems: readonly FleetProblem[]): void {
    const { log } = this.#options;
    const before = this.#problems;
    for (const { kind, text } of problems)
      if (!before.has(kind)) log.warn({ event: "fleet_problem", kind }, text);
    this.#problems = new Set(problems.map(({ kind }) => kind));
    for (const kind of before)
      if (!this.#problems.has(kind))
        log.info({ event: "fleet_problem_ended", kind }, "the instances of the fleet fit again");
  }
}
