import type { Config } from "../platform/config/config.ts";
import { parseDatabaseUrl } from "../platform/postgres/database-url.ts";
import { parseClusterAddress } from "../platform/redis/redis-address.ts";
import { awayAfterMs, storeNames, type StoreAges, type StoreName } from "../platform/probes.ts";
import { withTimeout } from "../platform/time/deadline.ts";

/** A check in a full queue of the connection pool takes long, and then the store is busy and not away. */
const checkLimitMs = 10_000;
/** How long an answer waits for the checks; the primary waits for a second. */
const answerLimitMs = 800;

/** A store as operators see it in faults, without credentials. */
export function storePeer(
  config: Pick<Config, "DATABASE_URL" | "REDIS_URL">,
  store: StoreName,
): string {
  if (store === "postgres") {
    const { host, port } = parseDatabaseUrl(config.DATABASE_URL);
    return host.startsWith("/") ? "socket" : `${host}:${port}`;
  }
  const node = parseClusterAddress(config.REDIS_URL)?.nodes[0];
  if (node !== undefined) return `${node.host}:${node.port}`;
  return new URL(config.REDIS_URL).host || "socket";
}

export type StoreChecks = Record<StoreName, (limitMs: number) => Promise<boolean>>;

/** When the stores last answered this process, for the probes of the instance (BOOT-11). */
export class StoreReach {
  readonly #checks: StoreChecks;
  readonly #onAway: (store: StoreName) => void;
  readonly #now: () => number;
  readonly #reachedAt: Record<StoreName, number | null> = { postgres: null, redis: null };
  readonly #running = new Map<StoreName, Promise<void>>();

  /** `onAway` is called at each question while a store is away. */
  constructor(
    checks: StoreChecks,
    onAway: (store: StoreName) => void,
    now: () => number = () => performance.now(),
  ) {
    this.#checks = checks;
    this.#onAway = onAway;
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
    const ages = { postgres: ageOf("postgres"), redis: ageOf("redis") };
    for (const store of storeNames) if ((ages[store] ?? 0) >= awayAfterMs) this.#onAway(store);
    return ages;
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
