import { EmberlineError } from "./errors.ts";
import type { CallOptions, Guest, GuestStore } from "./options.ts";
import { bodyOf, callDeadlineMs, send, waitFor, type Link } from "./request.ts";

/** An access token this close to its expiry is renewed first. */
const renewMs = 60_000;

interface Session {
  access_token: string;
  reclaim_token?: string;
  expires_in: number;
  player: { id: number; name: string };
}

/** The guest of a client: kept in a store, renewed by its reclaim token. */
export class GuestAccount {
  readonly #link: Link;
  readonly #store: GuestStore;
  #entering: Promise<Guest> | null = null;
  /** The most recent access token of this client, and its expiry by the monotonic clock. */
  #got = { token: "", until: 0 };

  constructor(link: Link, store: GuestStore | undefined) {
    this.#link = link;
    this.#store = store ? detached(store) : memoryStore();
  }

  /** The stored guest, renewed if necessary, or a new one. */
  async read(options: CallOptions = {}): Promise<Guest> {
    options.signal?.throwIfAborted();
    const known = this.#store.load();
    const { clock } = this.#link;
    if (known && this.#isGood(known)) return known;
    const deadlineMs = Math.max(callDeadlineMs, options.deadlineMs ?? 0);
    this.#entering ??= this.#enter(known, { deadlineMs }).finally(() => (this.#entering = null));
    return waitFor(clock, this.#entering, options);
  }

  /** The service refused the access token: the next read renews it. */
  expire(): void {
    const known = this.#store.load();
    if (known) this.#store.save({ ...known, expires_at_ms: 0 });
  }

  /**
   * A join with an expired token would take a seat without an account, so a changed clock must not hide the
   * expiry.
   */
  #isGood({ access_token: token, expires_at_ms: until, lifetime_ms: most }: Guest): boolean {
    const { clock } = this.#link;
    const leftMs = until - clock.now();
    if (leftMs <= 0 || leftMs > (most ?? Infinity)) return false;
    return token !== this.#got.token || clock.elapsed() < this.#got.until;
  }

  /** A guest whose reclaim token is refused is lost; a new guest takes its place. */
  async #enter(known: Guest | null, options?: CallOptions): Promise<Guest> {
    if (!known) return this.#openGuest({}, options);
    try {
      return await this.#openGuest({ reclaimToken: known.reclaim_token }, options);
    } catch (error) {
      if (!(error instanceof EmberlineError) || error.status !== 401) throw error;
      return this.#openGuest({}, options);
    }
  }

  async #openGuest(body: { reclaimToken?: string }, options?: CallOptions): Promise<Guest> {
    const call = { method: "POST", path: "/v1/gateway/guest", body } as const;
    const session = bodyOf<Session>(await send(this.#link, call, options));
    const { clock } = this.#link;
    const lifetimeMs = session.expires_in * 1000 - renewMs;
    this.#got = { token: session.access_token, until: clock.elapsed() + lifetimeMs };
    const guest = {
      player_id: session.player.id,
      name: session.player.name,
      access_token: session.access_token,
      expires_at_ms: clock.now() + lifetimeMs,
      lifetime_ms: lifetimeMs,
      reclaim_token: session.reclaim_token ?? body.reclaimToken ?? "",
    };
    this.#store.save(guest);
    return guest;
  }
}

/** The caller's functions, called without the object that holds them. */
function detached({ load, save }: GuestStore): GuestStore {
  return { load: () => load(), save: (guest) => save(guest) };
}

function memoryStore(): GuestStore {
  let kept: Guest | null = null;
  return { load: () => kept, save: (guest) => (kept = guest) };
}
