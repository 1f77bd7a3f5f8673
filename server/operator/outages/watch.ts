import { storeNames, type AwaySince, type StoreName } from "../../platform/probes.ts";
import type { Clock } from "../../platform/time/clock.ts";
import { pageSourceMs, withTimeout } from "../../platform/time/deadline.ts";
import type { StoreStates } from "../health/stores.ts";

export type OutagePart = StoreName | "primary";

/** What pages read from, in the order of their sentences. */
const parts: readonly OutagePart[] = [...storeNames, "primary"];

/** A part that does not respond. */
export interface Outage {
  part: OutagePart;
  /** Milliseconds since 1970. */
  sinceMs: number;
}

export interface OutageSources {
  stores(limitMs: number): Promise<StoreStates>;
  /** The primary's list of processes; null or empty if it does not respond. */
  processes(): Promise<unknown>;
  clock: Pick<Clock, "now">;
}

/** Longest wait for the answers to a poll. */
const pollMs = 500;
/** A poll that ended less than this before counts as one. */
const recentMs = 1_000;
/** What was found is valid for as long if nothing else is: a page that renews itself asks more often. */
const validMs = 15_000;

/**
 * What is away now, and since when. The primary publishes when a store last answered a worker; before it does, and for
 * the primary itself, what this process finds counts (OPS-94).
 */
export class OutageWatch {
  readonly #sources: OutageSources;
  readonly #published = new Map<OutagePart, number>();
  readonly #found = new Map<OutagePart, { sinceMs: number; atMs: number }>();
  #polling: Promise<unknown> | null = null;
  #polledAtMs = -Infinity;

  constructor(sources: OutageSources) {
    this.#sources = sources;
  }

  /** Takes what the primary has published. */
  publish(awaySince: AwaySince): void {
    for (const store of storeNames) {
      const sinceMs = awaySince[store];
      if (sinceMs !== null) this.#published.set(store, sinceMs);
      else if (this.#published.delete(store)) this.#found.delete(store);
    }
  }

  /** The states of both stores, in a bounded time. */
  async stores(limitMs: number = pageSourceMs): Promise<StoreStates> {
    const states = await this.#sources.stores(limitMs);
    for (const store of storeNames) this.#note(store, states[store] !== "away");
    return states;
  }

  /** The processes as the primary sees them; empty if it does not respond. */
  async processes(limitMs: number = pageSourceMs): Promise<unknown[]> {
    const found = await withTimeout(this.#sources.processes(), limitMs).catch(() => null);
    const processes = Array.isArray(found) ? found : [];
    this.#note("primary", processes.length > 0);
    return processes;
  }

  /** Asks for all parts, and returns what is away in a bounded time. Several polls at once are one. */
  async poll(): Promise<Outage[]> {
    const { clock } = this.#sources;
    if (clock.now() - this.#polledAtMs < recentMs) return this.known();
    const ask = () => Promise.all([this.stores(pollMs), this.processes(pollMs)]);
    this.#polling ??= ask().finally(() => {
      this.#polling = null;
      this.#polledAtMs = clock.now();
    });
    await this.#polling;
    return this.known();
  }

  /** What is known to be away without asking. */
  known(): Outage[] {
    const now = this.#sources.clock.now();
    return parts.flatMap((part) => {
      const found = this.#found.get(part);
      const isValid = found !== undefined && now - found.atMs < validMs;
      const sinceMs = this.#published.get(part) ?? (isValid ? found.sinceMs : undefined);
      return sinceMs === undefined ? [] : [{ part, sinceMs }];
    });
  }

  #note(part: OutagePart, isThere: boolean): void {
    const atMs = this.#sources.clock.now();
    const known = this.known().find((outage) => outage.part === part);
    if (!isThere) return void this.#found.set(part, { sinceMs: known?.sinceMs ?? atMs, atMs });
    this.#found.delete(part);
    this.#published.delete(part);
  }
}
