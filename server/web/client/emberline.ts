/*!
 * The trivia lobbies of an emberline service, for browsers and Node 22, published as one file without imports.
 * Commands are repeated safely, event streams resume where they were cut.
 *
 *   const service = new Emberline({ url: "http://127.0.0.1:8080" });
 *   const seat = await service.join("ABC234", "Ada");
 *   for await (const event of seat.events()) console.log(event.type, seat.lobby?.status);
 */

export type * from "../generated/types.ts";
export type { EndReason, ListEvent, LobbyEvent, Message, PlayerPick, RoomEvent } from "./events.ts";
export type * from "./options.ts";
export { EmberlineError } from "./errors.ts";
export { firstPauseMs, maxPauseMs, pauseAfter } from "./timing.ts";
export { randomKey } from "./request.ts";
export { createEventParser, maxEventChars } from "./event-parser.ts";
export { silenceMs } from "./connection.ts";
export { foldLobby } from "./lobby-state.ts";
export { lobbyCode } from "./lobby-code.ts";
export { Seat } from "./seat.ts";
export { Spectator } from "./spectator.ts";
export { verifyReveal } from "./verify-reveal.ts";

import { EmberlineError } from "./errors.ts";
import { readTopic } from "./event-stream.ts";
import type { ListEvent, RoomEvent } from "./events.ts";
import { GuestAccount } from "./guest.ts";
import { lobbyCode } from "./lobby-code.ts";
import { lobbiesPath, pathOf } from "./lobby-view.ts";
import type {
  CallOptions,
  EmberlineOptions,
  Guest,
  Health,
  RoomKey,
  SeatKey,
  StreamOptions,
} from "./options.ts";
import { OwnerRoute, WorkerPorts } from "./owner-ports.ts";
import { PageSignals } from "./page-signals.ts";
import {
  bodyOf,
  callDeadlineMs,
  lacksReadableBodies,
  randomKey,
  readHubToken,
  send,
  sendKeyed,
  sendOnce,
  type Answer,
  type Call,
  type Link,
} from "./request.ts";
import { roomEvents } from "./room-events.ts";
import { Seat } from "./seat.ts";
import { askToWatch, Spectator } from "./spectator.ts";
import { clockOf, systemClock } from "./timing.ts";
import type { Lobby, NewLobby, SeatRef } from "../generated/types.ts";

interface TakenSeat {
  lobby?: Lobby;
  player: SeatRef;
  player_token: string;
}

/** Client of an emberline service: identity, lobbies, and seats to resume. */
export class Emberline {
  readonly #link: Link;
  readonly #options: EmberlineOptions;
  readonly #account: GuestAccount;

  constructor(options: EmberlineOptions = {}) {
    this.#options = options;
    this.#link = linkOf(options);
    this.#account = new GuestAccount(this.#link, options.guest);
  }

  /** The guest of this client: the stored one, renewed by its reclaim token, or a new one. */
  guest(options: CallOptions = {}): Promise<Guest> {
    return this.#account.read(options);
  }

  /** Not retried, because the caller wants the current state. */
  async health({ deadlineMs = callDeadlineMs, signal }: CallOptions = {}): Promise<Health> {
    const call = { method: "GET", path: "/v1/health-check" } as const;
    const answer = await sendOnce(this.#link, call, deadlineMs, signal);
    const body = bodyOf<Omit<Health, "version">>(answer);
    return { ...body, version: String(answer.version) };
  }

  async categories(options?: CallOptions): Promise<{ name: string; num_questions: number }[]> {
    const answer = await this.#get("/v1/games/trivia/categories", options);
    return bodyOf<{ categories: { name: string; num_questions: number }[] }>(answer).categories;
  }

  /** Public lobbies that are waiting or being played, newest first. */
  async lobbies(options?: CallOptions): Promise<Lobby[]> {
    return bodyOf<{ lobbies: Lobby[] }>(await this.#get(lobbiesPath, options)).lobbies;
  }

  async lobby(code: string, options?: CallOptions): Promise<Lobby> {
    return bodyOf<{ lobby: Lobby }>(await this.#get(pathOf(lobbyCode(code)), options)).lobby;
  }

  /** Creates a lobby and takes the host's seat. */
  create(fields: NewLobby, options?: CallOptions): Promise<Seat> {
    return this.#sit({ method: "POST", path: lobbiesPath, body: fields }, null, options);
  }

  /** Takes a seat in a waiting lobby; `text` is its code or a link to it, as in `lobbyCode`. */
  join(text: string, name: string, options?: CallOptions): Promise<Seat> {
    const code = lobbyCode(text);
    const call = { method: "POST", path: `${pathOf(code)}/join`, body: { name } } as const;
    return this.#sit(call, code, options);
  }

  /** Resumes a seat; sends no request. */
  seat(key: SeatKey): Seat {
    return new Seat(this.#link, key);
  }

  /** Watches a public lobby without a seat. */
  async spectate(text: string, options?: CallOptions): Promise<Spectator> {
    const code = lobbyCode(text);
    const spectator = new Spectator(this.#link, code, await askToWatch(this.#link, code, options));
    await spectator.read(options);
    return spectator;
  }

  /** The complete public list after every change; ends with the signal. */
  async *publicLobbies(options: StreamOptions = {}): AsyncGenerator<Lobby[], void, undefined> {
    const topic = `${this.#options.topicBase ?? "/games/trivia"}/lobbies`;
    const findTopic = () => Promise.resolve(topic);
    const readSeq = (call: CallOptions) => this.lobbies(call).then(() => -1);
    const source = { findTopic, token: null, readToken: null, readSeq };
    const stream = readTopic(this.#link, source, options);
    for await (const { event, message } of stream)
      if (event === "lobbies.updated") yield (message as ListEvent).data.lobbies;
  }

  /**
   * The events of a room of another kind, with its data by type: `follow<ChessEventData>({ kind: "chess", code })`. Ends
   * after `<kind>.ended`, or with the signal; throws if the service refuses permanently.
   */
  async *follow<Data extends object>(
    { kind, code, token }: RoomKey,
    options: StreamOptions = {},
  ): AsyncGenerator<RoomEvent<Data>, void, undefined> {
    const link = this.#link;
    const findTopic = () => Promise.resolve(`/rooms/${kind}/${code}`);
    const headers: Record<string, string> = token?.seat ? { "X-Room-Token": token.seat } : {};
    const readToken = token
      ? (call: CallOptions) =>
          readHubToken(link, { method: "POST", path: token.path, headers }, call)
      : null;
    const readSeq = (call: CallOptions) => this.health(call).then(() => -1);
    const source = { findTopic, token: null, readToken, readSeq };
    yield* roomEvents<RoomEvent<Data>>(link, kind, source, options);
  }

  /** Checks the connections of all streams at once, like `resumeNow` of a seat. */
  resumeNow(): void {
    this.#link.page.wake();
  }

  /**
   * Calls any endpoint as the current caller and returns the `body` of the response, undefined without one.
   * A GET is retried like every call of this client, unless `once` is set. Other methods are retried only
   * with a `key`, and only sensibly on endpoints that support it (see the API documentation).
   */
  async call<T>(
    method: Call["method"],
    path: string,
    { body, once = false, ...options }: CallOptions & { body?: unknown; once?: boolean } = {},
  ): Promise<T> {
    const answer = await this.#asCaller(options, (headers, left) => {
      const call = { method, path, headers, body, brings: "anything" } as const;
      if (method === "GET" && !once) return send(this.#link, call, left);
      if (options.key !== undefined) return sendKeyed(this.#link, call, left);
      return sendOnce(this.#link, call, left.deadlineMs ?? callDeadlineMs, left.signal);
    });
    return bodyOf<T>(answer);
  }

  #get(path: string, options?: CallOptions): Promise<Answer> {
    return send(this.#link, { method: "GET", path }, options);
  }

  async #sit(call: Call, code: string | null, options: CallOptions = {}): Promise<Seat> {
    // One key for both identities, so that a first attempt that arrived is recognized.
    const key = options.key ?? randomKey();
    const answer = await this.#asCaller(options, (headers, left) =>
      sendKeyed(this.#link, { ...call, headers }, { ...left, key }),
    );
    const { lobby, player, player_token: token } = bodyOf<TakenSeat>(answer);
    const seatKey = { code: lobby?.code ?? code ?? "", token, playerId: player.id };
    return new Seat(this.#link, seatKey, lobby ?? null, answer.headers);
  }

  /** Runs a call with the own identity; retries once with a renewed token if the token is refused. */
  async #asCaller<T>(
    options: CallOptions,
    call: (headers: Record<string, string>, left: CallOptions) => Promise<T>,
  ): Promise<T> {
    const { clock } = this.#link;
    const deadlineAt = clock.elapsed() + (options.deadlineMs ?? callDeadlineMs);
    const left = () => ({ ...options, deadlineMs: Math.max(0, deadlineAt - clock.elapsed()) });
    const callNow = async () => {
      const token = await this.#accessToken(left());
      return call(token === null ? {} : { Authorization: `Bearer ${token}` }, left());
    };
    try {
      return await callNow();
    } catch (error) {
      if (!(error instanceof EmberlineError) || error.code !== "auth:token_invalid") throw error;
      this.#account.expire();
      return callNow();
    }
  }

  async #accessToken(options: CallOptions): Promise<string | null> {
    const { accessToken } = this.#options;
    if (accessToken) return accessToken();
    return (await this.guest(options)).access_token;
  }
}

/** Functions of the caller leave their object here: those of a browser refuse to be called on another one. */
function linkOf(options: EmberlineOptions): Link {
  const { fetch: given } = options;
  const isNative = given === undefined || given === globalThis.fetch;
  const clock = clockOf(options.clock ?? systemClock);
  const link: Link = {
    url: (options.url ?? "").replace(/\/+$/, ""),
    fetch: (input, init) => (given ?? fetch)(input, init),
    clock,
    request: {
      credentials: options.credentials ?? "omit",
      cache: options.cache ?? "no-store",
    },
    followOwner: null,
    runtime: { hasReadableBodies: !isNative || !lacksReadableBodies() },
    owner: null,
    page: new PageSignals(clock),
  };
  if (options.followOwner === false) return link;
  const ports = new WorkerPorts(link);
  return { ...link, followOwner: () => new OwnerRoute(link, ports) };
}
