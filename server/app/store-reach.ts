import { storeNames, type StoreAges, type StoreName } from "../platform/probes.ts";
import { withTimeout } from "../platform/time/deadline.ts";

/** A check in a full queue of the connection pool takes long, and then the store is busy and not away. */
const checkLimitMs = 10_000;
/** How long an answer waits for the checks; the primary waits for a second. */
const answerLimitMs = 800;

export type StoreChecks = Record<StoreName, (limitMs: number) => Promise<boolean>>;

/** When the stores last answered this process, for the probes of the instance (BOOT-11). */
export class StoreReach {
  readonly #checks: StoreChecks;
  readonly #now: () => number;
  readonly #reachedAt: Record<StoreName, number | null> = { postgres: null, redis: null };
  readonly #running = new Map<StoreName, Promise<void>>();

  constructor(checks: StoreChecks, now: () => number = () => performance.now()) {
    this.#checks = checks;
    this.#now = now;
  }

  /** Checks each store that is not being checked, and answers with what is known soon. */
  async ages(): Promise<StoreAges> {
    const checks = Promise.all(storeNames.map((store) => this.#check(store)));
    await withTimeout(checks, answerLimitMs).catch(() => undefined);
    const ageOf = (store: StoreName) => {
      const at = this.#reachedAt[store];
      return at === null ? null : this.#now() - at;
    };
    return { postgres: ageOf("postgres"), redis: ageOf("redis") };
  }

  #check(store: StoreName): Promise<void> {
    const running = this.#running.get(store) ?? this.#start(store);
    this.#running.set(store, running);
    return running;
  }

  async #start(store: StoreName): Promise<void> {
    try {
      if (await this.#checks[store](checkLimitMs)) this.#reachedAt[store] = this.#now();
    } finally {
      this.#running.delete(store);
    }
  }
}
