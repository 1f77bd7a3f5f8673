import type { Clock } from "./options.ts";

/** A page hidden for this long may wake on dead connections. */
const longHiddenMs = 5_000;

/** A stream, as its page and its lobby see it. */
export interface Wakeable {
  /** The device or its network may have been away: dead connections are to be found and replaced. */
  wake(): void;
  /** The page was hidden, or is visible again. */
  look(isHidden: boolean): void;
}

type Listen = (type: string, listener: (event: object) => void) => void;

interface Listening {
  addEventListener?: Listen;
  removeEventListener?: Listen;
}

/** The parts of a page's global object that are used here; Node has none of them. */
interface Page extends Listening {
  document?: Listening & { hidden?: boolean };
}

/** Tells the streams of a client what happens to their page. Listens only while there is a stream. */
export class PageSignals {
  readonly #clock: Clock;
  readonly #page: Page;
  readonly #streams = new Set<Wakeable>();
  #hiddenAt: { elapsed: number; now: number } | null = null;

  constructor(clock: Clock, page: Page = globalThis as Page) {
    this.#clock = clock;
    this.#page = page;
  }

  get isHidden(): boolean {
    return this.#page.document?.hidden === true;
  }

  /** Until the returned function is called. */
  follow(stream: Wakeable): () => void {
    if (this.#streams.size === 0) this.#listen("addEventListener");
    this.#streams.add(stream);
    return () => {
      if (this.#streams.delete(stream) && this.#streams.size === 0)
        this.#listen("removeEventListener");
    };
  }

  readonly wake = (): void => {
    for (const stream of [...this.#streams]) stream.wake();
  };

  #listen(change: keyof Listening): void {
    const page = this.#page;
    const { document } = page;
    this.#hiddenAt = this.isHidden ? this.#time() : null;
    page[change]?.("online", this.wake);
    page[change]?.("pageshow", this.#onPageShow);
    document?.[change]?.("resume", this.wake);
    document?.[change]?.("visibilitychange", this.#onVisibility);
  }

  readonly #onPageShow = (event: object): void => {
    if ("persisted" in event && event.persisted === true) this.wake();
  };

  readonly #onVisibility = (): void => {
    const { isHidden } = this;
    const hiddenAt = this.#hiddenAt;
    this.#hiddenAt = isHidden ? (hiddenAt ?? this.#time()) : null;
    for (const stream of [...this.#streams]) stream.look(isHidden);
    if (hiddenAt === null || isHidden) return;
    const { elapsed, now } = this.#time();
    // A monotonic clock may stand still while the device sleeps.
    const hiddenMs = Math.max(elapsed - hiddenAt.elapsed, now - hiddenAt.now);
    if (hiddenMs >= longHiddenMs) this.wake();
  };

  #time() {
    return { elapsed: this.#clock.elapsed(), now: this.#clock.now() };
  }
}
