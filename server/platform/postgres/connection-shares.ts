import { AppError } from "../errors.ts";

/** Queue timeout: a request that has waited longer has already been answered at its deadline. */
const longestWaitMs = 10_000;

interface Waiting {
  since: number;
  enter: () => void;
  refuse: (reason: AppError) => void;
}

interface Caller {
  active: number;
  queue: Waiting[];
}

interface Bounds {
  /** Connections the caller holds. */
  active: number;
  /** Queued statements and transactions of the caller. */
  waiting: number;
}

/** Maximum number of queued statements and transactions per caller and process. */
const maxWaitingOfCaller = 256;

/**
 * Maximum connections per caller. Many people may share one address, and every client that signs in with an
 * account of ours goes through the OAuth server.
 */
export const sharesOf = (pool: number, waiting = maxWaitingOfCaller) => ({
  player: { active: Math.max(1, Math.floor(pool / 3)), waiting },
  other: { active: Math.max(1, Math.floor(pool / 2)), waiting },
});

/**
 * Admission control for the connections of a pool: no caller holds more than a share of them, however many of its
 * requests wait for the same row. Its other requests queue; callers do not wait for each other.
 */
export class ConnectionShares {
  readonly #bounds: Bounds;
  readonly #callers = new Map<string, Caller>();

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
  }

  /** Rejects with `rate_limit:exceeded` when the queue of the caller is full. */
  async run<T>(who: string, work: () => Promise<T>): Promise<T> {
    const turn = this.#enter(who);
    if (turn !== null) await turn;
    try {
      return await work();
    } finally {
      this.#leave(who);
    }
  }

  #enter(who: string): Promise<void> | null {
    const caller = this.#callers.get(who);
    if (caller === undefined) {
      this.#callers.set(who, { active: 1, queue: [] });
      return null;
    }
    if (caller.active < this.#bounds.active) {
      caller.active++;
      return null;
    }
    const { queue } = caller;
    const since = performance.now();
    // Estimate: the newest entry waits about as long as the oldest has waited.
    if (queue.length >= this.#bounds.waiting) throw tooMany(since - (queue[0]?.since ?? since));
    return new Promise((enter, refuse) => queue.push({ since, enter, refuse }));
  }

  /** Passes the connection to the next request in the queue. */
  #leave(who: string): void {
    const caller = this.#callers.get(who);
    if (caller === undefined) return;
    const oldest = performance.now() - longestWaitMs;
    for (let next = caller.queue.shift(); next !== undefined; next = caller.queue.shift()) {
      if (next.since >= oldest) return next.enter();
      next.refuse(tooMany(longestWaitMs));
    }
    caller.active--;
    if (caller.active === 0) this.#callers.delete(who);
  }
}

const tooMany = (waitMs: number) =>
  new AppError("rate_limit:exceeded", {
    params: { retry_after: Math.max(1, Math.ceil(waitMs / 1_000)) },
  });

/** Connections that one request holds in the share of its caller. */
export class RequestConnections {
  readonly #shares: ConnectionShares;
  readonly #who: string;
  #transactions = 0;

  constructor(shares: ConnectionShares, who: string) {
    this.#shares = shares;
    this.#who = who;
  }

  /** A statement outside transactions. */
  statement<T>(work: () => Promise<T>): Promise<T> {
    // A statement inside a transaction must not queue behind other transactions.
    return this.#transactions > 0 ? work() : this.#shares.run(this.#who, work);
  }

  transaction<T>(work: () => Promise<T>): Promise<T> {
    return this.statement(async () => {
      this.#transactions++;
      try {
        return await work();
      } finally {
        this.#transactions--;
      }
    });
  }
}
