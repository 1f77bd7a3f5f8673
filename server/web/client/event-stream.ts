import { Connection } from "./connection.ts";
import { EmberlineError } from "./errors.ts";
import { brokenStream, type Frame } from "./event-parser.ts";
import type { CallOptions, StreamOptions, StreamState } from "./options.ts";
import type { Wakeable } from "./page-signals.ts";
import { ownerTryMs, tryLimitOf, urlNow, type Link } from "./request.ts";
import { aborted, firstPauseMs, pauseAfter } from "./timing.ts";

/** Default until the service sends a reconnect time. */
const defaultRetryMs = 2_000;
/** A connection that lasted this long, or delivered an event, resets the number of failures. */
const soundMs = 5_000;
/** After a wake, a connection without a byte for this long is replaced: a live one gets a comment by then. */
const freshMs = 15_000;
/** After a wake, a read that takes longer shows that connections are dead. */
const slowReadMs = 2_000;
/** A stream that is behind for this long is reported. */
const lagMs = 5_000;
/** Attempts to open a connection beside one that may be dead. */
const mostSuccessors = 3;

export interface StreamSource {
  /** Called until the topic is known; null if no event can follow the last one received. */
  findTopic: (options: CallOptions) => Promise<string | null>;
  /** A cached token; replaced when refused. */
  token: string | null;
  /** Gets a new hub token; null if the topic needs none. */
  readToken: ((options: CallOptions) => Promise<string>) | null;
  /** Reads the number of the newest event; -1 for a topic without numbers. */
  readSeq: (options: CallOptions) => Promise<number>;
  /** Registers the stream with its lobby, until the returned function is called. */
  attach?: (stream: LobbyStream) => () => void;
}

/** A stream, as its lobby sees it. */
export interface LobbyStream extends Wakeable {
  /** The lobby is known up to this event, which the stream has to deliver soon. */
  expect(seq: number): void;
}

interface Received {
  event: string;
  message: unknown;
}

/**
 * The messages of a topic over as many connections as necessary. Ends with the signal; throws if the
 * service refuses permanently.
 */
export function readTopic(
  link: Link,
  source: StreamSource,
  options: StreamOptions,
): AsyncGenerator<Received, void, undefined> {
  return new TopicStream(link, source, options).messages();
}

class TopicStream implements LobbyStream {
  readonly #link: Link;
  readonly #source: StreamSource;
  readonly #options: StreamOptions;
  readonly #end = new AbortController();
  #topic: string | null = null;
  #token: string | null;
  #lastEventId: string | null;
  #retryMs = defaultRetryMs;
  #failures = 0;
  /** Aborted when what is in progress, an opening, a connection or a pause, shall give way. */
  #step = new AbortController();
  /** When the step began; null during a pause. */
  #beganAt: number | null = null;
  /** In use or being opened. */
  #connection: Connection | null = null;
  /** Opened beside it, to take its place. */
  #successor: Connection | null = null;
  #isChecking = false;
  /** Since a wake, nothing has shown yet that the connection is alive. */
  #isDoubtful = false;
  #expected = -1;
  #isLagWatched = false;
  #state: StreamState | null = null;

  constructor(link: Link, source: StreamSource, options: StreamOptions) {
    this.#link = link;
    this.#source = source;
    this.#options = options;
    this.#token = source.token;
    this.#lastEventId = options.lastEventId ?? null;
  }

  async *messages(): AsyncGenerator<Received, void, undefined> {
    const { signal } = this.#options;
    const stop = () => {
      this.#end.abort();
      this.#giveWay();
    };
    const undo = [
      this.#link.page.follow(this),
      this.#source.attach?.(this),
      this.#link.owner?.onMove(() => this.#connection && this.#giveWay()),
    ];
    signal?.addEventListener("abort", stop);
    if (signal?.aborted) stop();
    try {
      while (!this.#end.signal.aborted) {
        const isSeamless = this.#step.signal.aborted;
        this.#step = new AbortController();
        if (this.#isReleased) await this.#rest();
        else if (yield* this.#receive(isSeamless)) return;
      }
    } finally {
      stop();
      this.#successor?.leave();
      signal?.removeEventListener("abort", stop);
      for (const one of undo) one?.();
    }
  }

  look(isHidden: boolean): void {
    if (this.#options.whileHidden !== "release") return;
    this.#isDoubtful = !isHidden;
    this.#giveWay();
    void this.#watchLag();
  }

  wake(): void {
    this.#isDoubtful = true;
    void this.#watchLag();
    if (this.#isReleased || this.#isChecking) return;
    const connection = this.#connection;
    const beganAt = this.#beganAt;
    if (connection?.isOpen) return void this.#check(connection);
    if (beganAt !== null && this.#link.clock.elapsed() - beganAt < slowReadMs) return;
    this.#failures = 0;
    this.#giveWay();
  }

  expect(seq: number): void {
    if (this.#lastEventId === null || seq <= Math.max(this.#seq, this.#expected)) return;
    this.#expected = seq;
    void this.#watchLag();
  }

  get #isReleased(): boolean {
    return this.#options.whileHidden === "release" && this.#link.page.isHidden;
  }

  /** Number of the last event; only its successors arrive on the next connection. */
  get #seq(): number {
    return Number(this.#lastEventId ?? -1);
  }

  get #isBehind(): boolean {
    return this.#isDoubtful || this.#seq < this.#expected;
  }

  /** That it is behind needs no report: it was reported, or nobody sees it. */
  get #isShown(): boolean {
    const state = this.#state;
    const end = this.#end;
    const isReleased = this.#isReleased;
    return state === "lost" || state === "behind" || isReleased || end.signal.aborted;
  }

  #giveWay(): void {
    this.#step.abort();
    this.#connection?.leave();
  }

  #report(state: StreamState): void {
    const { onState } = this.#options;
    this.#state = state;
    onState?.(state);
  }

  /** Without a connection, until the page is visible again. */
  #rest(): Promise<void> {
    this.#takeSuccessor()?.leave();
    this.#connection = null;
    return aborted(this.#step.signal);
  }

  /** One connection, and the pause after it. Returns true when no message can follow. */
  async *#receive(isSeamless: boolean): AsyncGenerator<Received, boolean, undefined> {
    const step = this.#step;
    const { clock, owner } = this.#link;
    const wasKnown = this.#token !== null;
    let retryAfterMs: number | null = null;
    let isElsewhere = false;
    this.#beganAt = clock.elapsed();
    try {
      if (!isSeamless) this.#report("connecting");
      const connection = this.#takeSuccessor() ?? (await this.#open());
      if (connection === null) return true;
      this.#isDoubtful = false;
      this.#report("open");
      for await (const frame of connection.frames()) {
        if (this.#end.signal.aborted) return true;
        const message = this.#take(frame);
        if (message !== null) yield { event: frame.event, message };
      }
    } catch (error) {
      if (this.#end.signal.aborted) return true;
      if (!step.signal.aborted) {
        if (!(error instanceof EmberlineError)) throw error;
        const isOutdated = wasKnown && [401, 403].includes(error.status);
        if (isRefused(error) && !isOutdated) throw error;
        if (isOutdated) this.#token = null;
        retryAfterMs = error.retryAfterMs;
        const url = this.#connection?.target.url ?? this.#link.url;
        isElsewhere = error.status === 0 && owner?.leave(url) === true;
      }
    } finally {
      this.#drop();
    }
    if (step.signal.aborted && !isElsewhere) return false;
    this.#report("lost");
    this.#beganAt = null;
    if (isElsewhere) return false;
    const pauseMs = pauseAfter(this.#failures++, clock.random(), retryAfterMs, this.#retryMs);
    await clock.sleep(pauseMs, step.signal);
    return false;
  }

  #takeSuccessor(): Connection | null {
    const successor = this.#successor;
    this.#successor = null;
    if (successor) this.#connection = successor;
    return successor;
  }

  async #open(): Promise<Connection | null> {
    const { signal } = this.#step;
    this.#topic ??= await this.#source.findTopic({ signal });
    if (this.#topic === null) return null;
    this.#token ??= (await this.#source.readToken?.({ signal })) ?? null;
    await this.#link.owner?.settled;
    signal.throwIfAborted();
    // A request on a dead connection is given up early.
    const isHurried = this.#isDoubtful && this.#failures < mostSuccessors;
    this.#connection = this.#connectionTo(this.#topic, isHurried ? ownerTryMs : Infinity);
    await this.#connection.open();
    return this.#connection;
  }

  #connectionTo(topic: string, mostMs: number): Connection {
    const link = this.#link;
    const token = this.#token;
    const lastEventId = this.#lastEventId;
    const url = urlNow(link);
    const limitMs = Math.min(mostMs, tryLimitOf(link, url));
    return new Connection(link, { url, topic, token, lastEventId, limitMs });
  }

  /** The message of a frame; null for a frame that only advances the id. */
  #take({ id, data }: Frame): unknown {
    const message = data === "" ? null : parseMessage(data);
    this.#failures = 0;
    if (!this.#isChecking) this.#isDoubtful = false;
    if (id !== null) this.#lastEventId = id === "" ? null : id;
    if (this.#state === "behind" && !this.#isBehind) this.#report("open");
    return message;
  }

  /** Ends what is left of the connection of this step. */
  #drop(): void {
    const connection = this.#connection;
    this.#connection = null;
    if (!connection) return;
    connection.leave();
    this.#retryMs = connection.retryMs ?? this.#retryMs;
    const { openedAt } = connection;
    if (openedAt !== null && this.#link.clock.elapsed() - openedAt >= soundMs) this.#failures = 0;
  }

  /** Finds out whether a connection is still alive after a wake, and replaces it if not. */
  async #check(connection: Connection): Promise<void> {
    this.#isChecking = true;
    try {
      if (await this.#isOutdated(connection)) await this.#replace(connection);
      else if (this.#connection === connection) this.#isDoubtful = false;
    } finally {
      this.#isChecking = false;
    }
  }

  async #isOutdated({ silentMs }: Connection): Promise<boolean> {
    if (silentMs >= freshMs) return true;
    const { signal } = this.#end;
    try {
      return (await this.#source.readSeq({ signal, deadlineMs: slowReadMs })) > this.#seq;
    } catch (error) {
      // A refusal says that the service is there.
      return error instanceof EmberlineError && error.status === 0;
    }
  }

  /** Opens a connection beside another one, which is left when the new one is open. */
  async #replace(old: Connection): Promise<void> {
    const { clock } = this.#link;
    const isOld = () => this.#connection === old && !this.#end.signal.aborted;
    // Nothing to continue from: a new beginning would come twice.
    if (this.#lastEventId === null) return isOld() ? this.#giveWay() : undefined;
    for (let attempt = 0; isOld() && attempt < mostSuccessors; attempt++) {
      const next = this.#connectionTo(this.#topic ?? "", ownerTryMs);
      const unlink = this.#whenEnded(() => next.leave());
      try {
        await next.open();
        if (!isOld()) return next.leave();
        this.#successor = next;
        return this.#giveWay();
      } catch (error) {
        // Refused, for example as one stream too many: the old one may well be alive.
        if (!(error instanceof EmberlineError) || error.status > 0) return;
      } finally {
        unlink();
      }
      await clock.sleep(pauseAfter(attempt, clock.random(), null, firstPauseMs), this.#end.signal);
    }
    if (isOld() && old.silentMs >= slowReadMs) old.giveUp();
  }

  #whenEnded(work: () => void): () => void {
    const { signal } = this.#end;
    signal.addEventListener("abort", work);
    return () => signal.removeEventListener("abort", work);
  }

  /** Reports a stream that has not caught up after 5 s, and again when it has (`take`, `receive`). */
  async #watchLag(): Promise<void> {
    if (this.#isLagWatched) return;
    this.#isLagWatched = true;
    const { signal } = this.#end;
    while (this.#isBehind && !this.#isShown) {
      const expected = this.#expected;
      await this.#link.clock.sleep(lagMs, signal);
      const isLate = this.#isDoubtful || this.#seq < expected;
      if (isLate && !this.#isShown) this.#report("behind");
    }
    this.#isLagWatched = false;
  }
}

/** Parses the data of a frame; text that is not JSON was damaged on the way. */
function parseMessage(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch (cause) {
    throw brokenStream("An event could not be read.", cause);
  }
}

/** True if the service refuses the stream itself, or no stream can be read; failures of the service are temporary. */
const isRefused = ({ status, isPassing }: EmberlineError) => status < 500 && !isPassing;
