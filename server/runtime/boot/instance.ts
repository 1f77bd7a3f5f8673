import { isDeepStrictEqual } from "node:util";
import {
  awayAfterMs,
  storeNames,
  type AwaySince,
  type ProbeAnswers,
  type StoreName,
} from "../../platform/probes.ts";
import type { InstanceState } from "../ipc.ts";
import { pulseMs } from "./frozen-detection.ts";
import { probeAnswers, type WorkerSigns } from "./instance-probes.ts";

/** A worker that can be asked. */
export interface AskedWorker extends WorkerSigns {
  /** The `StoreAges` of the worker; null if it does not answer. */
  ask(question: "stores"): Promise<unknown>;
}

export interface InstanceOptions {
  workers: () => readonly AskedWorker[];
  /** READY_STORE_SECONDS in milliseconds. */
  storeLimitMs: number;
  /** Called at each change. */
  publish: (state: InstanceState) => void;
  now?: () => number;
}

/** The state of this instance for probes: the primary observes it, and publishes its changes to all processes. */
export class Instance {
  readonly #options: InstanceOptions;
  readonly #now: () => number;
  readonly #reachedAt: Record<StoreName, number | null> = { postgres: null, redis: null };
  readonly #awaySince: AwaySince = { postgres: null, redis: null };
  #isStopping = false;
  #isDraining = false;
  #checking: Promise<void> | null = null;
  /** The worker to ask next: one that reaches no store must not speak for the others. */
  #turn = 0;
  #timer: NodeJS.Timeout | null = null;
  #published: InstanceState | null = null;

  constructor(options: InstanceOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  start(): void {
    this.#timer = setInterval(() => void this.check(), pulseMs).unref();
  }

  stop(): void {
    if (this.#timer) clearInterval(this.#timer);
  }

  /** As of this moment, whatever was published. */
  answers(): ProbeAnswers {
    return probeAnswers({
      now: this.#now(),
      isStopping: this.#isStopping,
      isDraining: this.#isDraining,
      workers: this.#options.workers(),
      reachedAt: this.#reachedAt,
      storeLimitMs: this.#options.storeLimitMs,
    });
  }

  state(): InstanceState {
    const awaySince = { ...this.#awaySince };
    const isLeaving = this.#isStopping || this.#isDraining;
    return { probes: this.answers(), isLeaving, awaySince };
  }

  /** Not ready any more, although everything is still served. */
  beginStop(): void {
    this.#isStopping = true;
    this.#publishChange();
  }

  /** Its last worker will drain: not ready any more, although everything is still served. */
  leave(): void {
    this.#isDraining = true;
    this.#publishChange();
  }

  /** The last worker has a successor, or does not drain after all. */
  return(): void {
    this.#isDraining = false;
    this.#publishChange();
  }

  /** Asks one worker for the stores, and publishes what has changed. */
  check(): Promise<void> {
    this.#checking ??= this.#check().finally(() => (this.#checking = null));
    return this.#checking;
  }

  async #check(): Promise<void> {
    this.#publishChange();
    const workers = this.#options.workers().filter(({ isReady }) => isReady);
    const asked = workers[this.#turn++ % workers.length];
    const found = await asked?.ask("stores");
    for (const store of storeNames) this.#note(store, ageIn(found, store));
    this.#publishChange();
  }

  /** Of several workers the one that has reached the store last counts. */
  #note(store: StoreName, age: number | null): void {
    if (age === null) return;
    const at = Math.max(this.#reachedAt[store] ?? 0, this.#now() - age);
    this.#reachedAt[store] = at;
    const isAway = this.#now() - at >= awayAfterMs;
    this.#awaySince[store] = isAway
      ? (this.#awaySince[store] ?? Math.round(performance.timeOrigin + at))
      : null;
  }

  #publishChange(): void {
    const state = this.state();
    if (isDeepStrictEqual(state, this.#published)) return;
    this.#published = state;
    this.#options.publish(state);
  }
}

function ageIn(found: unknown, store: StoreName): number | null {
  const age: unknown = typeof found === "object" && found !== null && Reflect.get(found, store);
  return typeof age === "number" ? age : null;
}
