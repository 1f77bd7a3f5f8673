import type { Emberline, LobbyEvent, Seat, Spectator } from "../../server/web/client/emberline.ts";
import { within } from "../load/deadline.ts";
import type { Bot } from "./bot.ts";

const openMs = 15_000;
const catchUpMs = 30_000;

/** One subscriber of a lobby: a seat or a spectator, whose events must be complete and in order. */
export class Follower {
  readonly bot: Bot;
  /** Number of the last event. */
  last = -1;
  /** Numbers of events that are hidden from it. */
  readonly hidden: number[] = [];
  /** Spectators get no picks (HUB-08). */
  readonly seesPicks: boolean;
  readonly #onEvent: (event: LobbyEvent, follower: Follower) => void;
  readonly #waiting: { seq: number; resolve: () => void }[] = [];
  #view: Seat | Spectator;
  #leaving = new AbortController();
  #following: Promise<void> = Promise.resolve();

  constructor(
    bot: Bot,
    view: Seat | Spectator,
    onEvent: (event: LobbyEvent, follower: Follower) => void,
    seesPicks = true,
  ) {
    this.seesPicks = seesPicks;
    this.bot = bot;
    this.#view = view;
    this.#onEvent = onEvent;
  }

  get isPresent(): boolean {
    return !this.#leaving.signal.aborted;
  }

  /** Resolves when the stream is open. */
  async open(): Promise<void> {
    const { promise: opened, resolve } = Promise.withResolvers<void>();
    this.#leaving = new AbortController();
    this.#following = this.#follow(resolve);
    const ended = this.#following.then(() => {
      throw new Error(`the stream ${this.#name} ended before it was open`);
    });
    await within(openMs, `the stream ${this.#name}`, Promise.race([opened, ended]));
  }

  /** Closes the connection, as when the page is closed. */
  async leave(): Promise<void> {
    this.#leaving.abort();
    await this.#following.catch(() => undefined);
  }

  /** Comes back by the key of its seat, and resolves when its events are as complete as the lobby. */
  async comeBack(client: Emberline, seat: Seat): Promise<void> {
    const resumed = client.seat(seat.key);
    this.#view = resumed;
    const [{ lobby }] = await Promise.all([resumed.read(), this.open()]);
    await within(catchUpMs, `event ${lobby.seq} ${this.#name}`, this.#until(lobby.seq));
  }

  /** Resolves at the last event of the lobby; rejects when the service refuses the stream. */
  ended(): Promise<void> {
    return this.#following;
  }

  get #name(): string {
    return `of ${this.bot.name} in ${this.#view.code}`;
  }

  #until(seq: number): Promise<void> {
    if (this.last >= seq) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ seq, resolve }));
  }

  async #follow(onOpen: () => void): Promise<void> {
    const { signal } = this.#leaving;
    const resume = this.last < 0 ? {} : { lastEventId: String(this.last) };
    const onState = (state: string) => state === "open" && onOpen();
    for await (const event of this.#view.events({ signal, onState, ...resume })) {
      this.#check(event);
      this.#onEvent(event, this);
      for (const one of this.#waiting) if (this.last >= one.seq) one.resolve();
    }
  }

  /** The first snapshot begins the history; any later one replaces events that did not come. */
  #check({ type, seq }: LobbyEvent): void {
    const { last } = this;
    if (!this.seesPicks && type !== "lobby.snapshot" && type !== "lobby.gap")
      for (; this.last >= 0 && this.last + 1 < seq; this.last++) this.hidden.push(this.last + 1);
    const isFirst = last < 0;
    const isWhole =
      type === "lobby.snapshot" ? seq <= last : type !== "lobby.gap" && seq === this.last + 1;
    if (!isFirst && !isWhole)
      this.bot.violation(
        "gap",
        `${type} ${seq} follows event ${last} ${this.#name}`,
        this.bot.requestId("/v1/hub"),
      );
    if (type !== "lobby.gap") this.last = Math.max(last, seq);
  }
}
