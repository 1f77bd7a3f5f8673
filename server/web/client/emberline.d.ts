/*!
 * The trivia lobbies of an emberline service, for browsers and Node 22, published as one file without imports.
 * Commands are repeated safely, event streams resume where they were cut.
 *
 *   const service = new Emberline({ url: "http://127.0.0.1:8080" });
 *   const seat = await service.join("ABC234", "Ada");
 *   for await (const event of seat.events()) console.log(event.type, seat.lobby?.status);
 */
export interface Player {
  id: number;
  name: string;
  is_host: boolean;
  account_id: number | null;
  avatar_url: string | null;
  score: number;
  streak: number;
  best_streak: number;
  num_correct: number;
  is_connected: boolean;
  has_answered: boolean;
  /** ISO 8601, YYYY-MM-DDTHH:MM:SS+00:00 */
  joined_at: string;
}
export interface Question {
  id: number;
  type: "multiple_choice";
  category: string;
  difficulty: string;
  question: string;
  payload: {
    choices: string[];
    estimated_rate: number;
  };
  is_cached: boolean;
  /** hex SHA-256 of `<answer_salt>\n<id>\n<correct_index>\n<text of the correct choice>`; the reveal contains the salt */
  answer_hash: string | null;
  index: number;
  started_at_ms: number;
  ends_at_ms: number;
}
export interface Reveal {
  question_id: number;
  index: number;
  correct_index: number;
  /** proves `answer_hash` of the question */
  answer_salt: string | null;
  explanation: string;
  correct_rate: number;
  num_served: number;
  results: Result[];
  closed_by: "all_answered" | "lock" | "timer" | "next";
}
/** The answer of one seat; `selected_index` is -1 for a timeout. */
export interface Result {
  player_id: number;
  selected_index: number;
  is_correct: boolean;
  points_earned: number;
  time_taken_ms: number;
  score: number;
  streak: number;
}
export interface Lobby {
  id: number;
  code: string;
  host_name: string;
  category: string | null;
  difficulty: string | null;
  prompt: string | null;
  selected_categories: string[];
  blend: boolean;
  review: boolean;
  timer: number;
  /** questions of the game: after the start those drawn; null means endless (LOB-29) */
  num_questions: number | null;
  /** questions asked for by the settings; null means endless (LOB-29) */
  num_questions_requested: number | null;
  is_endless: boolean;
  status: "waiting" | "in_progress" | "finished";
  visibility: "public" | "private";
  mode: "coop" | "versus";
  max_players: number;
  current_index: number;
  /** ISO 8601, YYYY-MM-DDTHH:MM:SS+00:00 */
  created_at: string;
  /** ISO 8601, YYYY-MM-DDTHH:MM:SS+00:00 */
  started_at: string | null;
  /** ISO 8601, YYYY-MM-DDTHH:MM:SS+00:00 */
  finished_at: string | null;
  current_question_started_at_ms: number | null;
  server_now_ms: number;
  players: Player[];
  current_question: Question | null;
  answered_player_ids: number[];
  host_disconnect: {
    since_ms: number;
    ends_at_ms: number;
  } | null;
  reveal: Reveal | null;
  /** streams without a seat (HUB-08) */
  spectator_count: number;
  seq: number;
  hub: HubAddress;
  /** of a finished lobby with `review` (LOB-23) */
  review_items?: ReviewItem[];
}
/** A closed question with its correct answer and the answers of all seats. */
export interface ReviewItem {
  index: number;
  question: CatalogQuestion;
  answer_hash: string | null;
  /** proves `answer_hash` of the question */
  answer_salt: string | null;
  closed_by: "all_answered" | "lock" | "timer" | "next";
  results: Result[];
}
export interface CatalogQuestion {
  id: number;
  type: "multiple_choice";
  category: string;
  difficulty: string;
  question: string;
  answers: string[];
  correct_index: number;
  explanation: string;
}
export interface SeatRef {
  id: number;
  name: string;
  is_host: boolean;
}
/** The result that the answering seat of a versus game receives before the reveal. */
export interface AnswerResult {
  is_correct: boolean;
  answer: number;
  explanation: string;
  correct_rate: number;
  num_served: number;
  /** less for a question answered before the game */
  xp_gained: number;
  points_earned: number;
  score: number;
  streak: number;
  best_streak: number;
  is_question_closed: boolean;
}
export interface HubAddress {
  url: string;
  topic: string;
}
/** A lobby as seen by one seat. */
export interface SeatView {
  lobby: Lobby;
  player: SeatRef | null;
  /** for a seat in co-op while a question is open: all current picks */
  picks?: {
    player_id: number;
    selected_index: number;
  }[];
}
export interface NewLobby {
  /** 1 to 64 visible characters of one script after trimming (Latin may be mixed with Chinese, Japanese and Korean) */
  hostName: string;
  category?: string | null;
  /** seconds; 30 when null (LOB-07) */
  timer?: number | null;
  /** null means endless */
  numQuestions?: number | null;
  visibility?: "public" | "private";
  mode?: "coop" | "versus";
  maxPlayers?: number;
  difficulty?: string | null;
  /** letters, digits, spaces and . , ! ? ' - : ; ( ) / " alone */
  prompt?: string | null;
}
export interface Settings {
  difficulty?: string | null;
  /** letters, digits, spaces and . , ! ? ' - : ; ( ) / " alone */
  prompt?: string | null;
  selected_categories?: string[];
  /** seconds; 30 when null (LOB-07) */
  timer?: number | null;
  blend?: boolean;
  review?: boolean;
  num_questions?: number | null;
  visibility?: "public" | "private";
  mode?: "coop" | "versus";
}
/** Data of each lobby event. */
export interface LobbyEventData {
  "lobby.snapshot": {
    lobby: Lobby;
  };
  "lobby.player_joined": {
    player: Player | null;
    lobby: Lobby;
  };
  "lobby.settings": {
    changes: {
      difficulty?: string | null;
      /** letters, digits, spaces and . , ! ? ' - : ; ( ) / " alone */
      prompt?: string | null;
      selected_categories?: string[];
      /** seconds; 30 when null (LOB-07) */
      timer?: number | null;
      blend?: boolean;
      review?: boolean;
      num_questions?: number | null;
      visibility?: "public" | "private";
      mode?: "coop" | "versus";
    };
    lobby: Lobby;
  };
  "lobby.started": {
    lobby: Lobby;
  };
  "lobby.answer": {
    player_id: number;
    answered_player_ids: number[];
  };
  "lobby.pick": {
    player_id: number;
    selected_index: number;
  };
  "lobby.reveal": {
    reveal: Reveal | null;
    lobby: Lobby;
  };
  "lobby.question": {
    lobby: Lobby;
  };
  "lobby.host_disconnect": {
    host_disconnect: {
      since_ms: number;
      ends_at_ms: number;
    } | null;
  };
  "lobby.player_removed": {
    player_id: number;
    reason: "left" | "kicked" | "away";
    lobby: Lobby;
  };
  "lobby.spectators": {
    spectator_count: number;
  };
  "lobby.ended": {
    reason: "completed" | "host_ended" | "host_left" | "host_timeout" | "idle" | "operator";
    lobby: Lobby;
  };
  "lobby.gap": Record<string, never>;
}
export type PlayerPick = NonNullable<SeatView["picks"]>[number];
export type EndReason = LobbyEventData["lobby.ended"]["reason"];
export interface Message<T extends string, D> {
  type: T;
  topic: string;
  /** Increases by one with every event of the room. */
  seq: number;
  at_ms: number;
  data: D;
}
/** An event of a room whose kind has this data by type, such as `LobbyEventData`. */
export type RoomEvent<Data extends object> = {
  [T in keyof Data & string]: Message<T, Data[T]>;
}[keyof Data & string];
export type LobbyEvent = RoomEvent<LobbyEventData>;
/** The current public list. It has no sequence numbers; each state replaces the previous one. */
export type ListEvent = Omit<
  Message<
    "lobbies.updated",
    {
      lobbies: Lobby[];
    }
  >,
  "seq"
>;
/**
 * Time and randomness, replaceable in tests. `sleep` resolves early when aborted. Like every function of the options,
 * these are called without `this`.
 */
export interface Clock {
  /** Milliseconds since 1970 by the device's clock, which may be set forward or back. */
  now: () => number;
  /** Milliseconds of a monotonic clock, for measuring durations. */
  elapsed: () => number;
  /** From 0 to below 1. */
  random: () => number;
  sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}
/** A guest player of the service. The holder of `reclaim_token` can become this guest again. */
export interface Guest {
  player_id: number;
  name: string;
  access_token: string;
  expires_at_ms: number;
  /**
   * Lifetime of the access token when it was issued. A longer remaining time means that the clock was set
   * back.
   */
  lifetime_ms?: number;
  reclaim_token: string;
}
/**
 * Storage of the guest between visits; without one the guest lasts as long as the client. Its functions are called
 * without `this`, so bind the methods of a class.
 */
export interface GuestStore {
  load: () => Guest | null;
  save: (guest: Guest | null) => void;
}
/** The functions in it are called without `this`, as those of a browser must be. */
export interface EmberlineOptions {
  /** Address of the service without a path; not needed on a page served by the service itself. */
  url?: string;
  guest?: GuestStore;
  /**
   * Returns the access token of an account; called before every request that needs one. No guest is created
   * then. The token must be valid: a `join` with an expired token takes a seat without an account. With
   * null the request is sent without a token, which suffices for public data.
   */
  accessToken?: () => string | null | Promise<string | null>;
  /** Prefix of the service's topics (its setting TOPIC_BASE). */
  topicBase?: string;
  fetch?: typeof fetch;
  clock?: Clock;
  /**
   * By default only headers identify the caller, so that two seats in one browser stay separate, and the
   * browser's cache is not used. A page served by the service itself may want its cookies or its cache.
   */
  credentials?: "omit" | "same-origin";
  cache?: "no-store" | "default";
  /**
   * Sends the requests of a lobby directly to the worker that owns it, where the service has a port for each worker
   * (its setting WORKER_PORTS) and that port is reachable. Default true.
   */
  followOwner?: boolean;
}
export interface CallOptions {
  signal?: AbortSignal;
  /** Time for all attempts together; default 30 s, for `start` 60 s. */
  deadlineMs?: number;
  /** `Idempotency-Key`: a call repeated with it counts once. Random by default. */
  key?: string;
}
/** State and version of the service. */
export interface Health {
  status: "ok" | "degraded";
  uptime: string;
  version: string;
}
/** `behind`: for 5 s the lobby is known to be ahead of the stream, or nothing has come since the device woke. */
export type StreamState = "connecting" | "open" | "lost" | "behind";
export interface StreamOptions {
  signal?: AbortSignal;
  /** Id of the last event of an earlier stream, to resume after it. */
  lastEventId?: string;
  onState?: (state: StreamState) => void;
  /**
   * `release` leaves the connection while the page is hidden, and catches up when it is visible again: a browser has
   * few connections to one service for all its tabs. Heartbeats go on. Default `follow`.
   */
  whileHidden?: "follow" | "release";
}
/** A room of any kind, to follow its events. */
export interface RoomKey {
  kind: string;
  code: string;
  /** Where its hub token is read, and the token of the seat; without it for a room that anyone may follow. */
  token?: {
    path: string;
    seat?: string;
  };
}
/** Everything needed to resume a seat. */
export interface SeatKey {
  code: string;
  token: string;
  playerId: number;
}
/**
 * A refusal or failure. `code` is the service's error code. With status 0 it is `network:unreachable`,
 * `network:timeout` or `network:broken_stream`, and it is unknown whether the request arrived. The service
 * is also unreachable if something else responds in its place; `cause` then contains that response.
 * `network:unreadable_stream` is final: the `fetch` of this runtime gives no readable body, which events need.
 */
export declare class EmberlineError extends Error {
  readonly status: number;
  readonly code: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Invalid fields. */
  readonly violations: readonly {
    propertyPath: string;
    title: string;
  }[];
  constructor(
    status: number,
    code: string,
    message: string,
    detail?: {
      params?: Record<string, unknown>;
      violations?: {
        propertyPath: string;
        title: string;
      }[];
      cause?: unknown;
    },
  );
  /** When to retry, if the service said so. */
  get retryAfterMs(): number | null;
  /**
   * True if the same call may succeed shortly: the service is unreachable, busy or rate limiting. A failed
   * question generation does not count, unless more questions are on the way, in which case the service
   * says when to retry. Maintenance lasts longer than a caller waits.
   */
  get isPassing(): boolean;
  /** True if the seat, its token or the lobby no longer exists, so that a retry cannot help. */
  get isFinal(): boolean;
}
/** First and longest delay between two attempts, before jitter removes up to half of it. */
export declare const firstPauseMs = 250;
export declare const maxPauseMs = 15000;
/**
 * Delay after the attempt with this number (from 0): doubles from `firstMs`; jitter removes up to half. A
 * delay requested by the service is a lower bound, plus jitter, so that clients do not return at the same
 * time.
 */
export declare function pauseAfter(
  attempt: number,
  random: number,
  retryAfterMs?: number | null,
  firstMs?: number,
): number;
/** A stream, as its page and its lobby see it. */
interface Wakeable {
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
  document?: Listening & {
    hidden?: boolean;
  };
}
/** Tells the streams of a client what happens to their page. Listens only while there is a stream. */
declare class PageSignals {
  #private;
  constructor(clock: Clock, page?: Page);
  get isHidden(): boolean;
  /** Until the returned function is called. */
  follow(stream: Wakeable): () => void;
  readonly wake: () => void;
}
/** `crypto.randomUUID` is missing without https, for example on a phone that uses an IP address. */
export declare function randomKey(): string;
/** How the requests of a client, or of one lobby, reach the service. */
interface Link {
  /** Of the port that all workers share. */
  url: string;
  fetch: typeof fetch;
  clock: Clock;
  /** Spread into a request, because Node's types do not include `cache`. */
  request: Required<Pick<EmberlineOptions, "credentials" | "cache">>;
  /** Makes the route to the owner of one lobby; null: owners are not followed. */
  followOwner: (() => Route) | null;
  /** What is known of the runtime, shared by all lobbies of a client. */
  runtime: {
    hasReadableBodies: boolean;
  };
  /** Route to the owner of one lobby; null for requests without a lobby. */
  owner: Route | null;
  page: PageSignals;
}
/** Where the requests of one lobby go. */
interface Route {
  readonly url: string;
  /** Resolves when the named port is in use or known as unreachable, after one second at most. */
  readonly settled: Promise<void>;
  /** Reads the owner's port from a response; without the header nothing changes. */
  learn(headers: Headers): void;
  /** A request to `url` failed without a response; true when it may be retried on another port at once. */
  leave(url: string): boolean;
  /** Calls the listener after each change of the port, until the returned function is called. */
  onMove(listener: () => void): () => void;
}
interface Call {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  path: string;
  headers?: Record<string, string>;
  body?: unknown;
  tryMs?: number;
  /** What identifies a success of the service; by default an envelope with a `body`. */
  brings?: "sheet" | "hubToken" | "anything";
}
/** Maximum size of an event; the complete public list is far smaller. */
export declare const maxEventChars = 4194304;
/** A frame without data only advances the id: an event that this subscriber may not see. */
interface Frame {
  id: string | null;
  event: string;
  data: string;
}
interface Parsed {
  frames: Frame[];
  retryMs: number | null;
}
/** Parses an event stream chunk by chunk; throws if an event exceeds the limit. */
export declare function createEventParser(maxChars?: number): (text: string) => Parsed;
/** The service sends a comment every 15 s; a connection silent for two intervals is dead. */
export declare const silenceMs = 35000;
/**
 * The lobby after an event: small events contain their change, others the lobby itself. Events and
 * responses may overtake each other, so outdated ones are ignored. A snapshot always counts, because it
 * follows a gap.
 */
export declare function foldLobby(lobby: Lobby | null, event: LobbyEvent): Lobby | null;
/**
 * The lobby code in typed or pasted text: in any case, with spaces or dashes, or as a complete link. Text
 * without a code is returned unchanged, and the service refuses it.
 */
export declare function lobbyCode(text: string): string;
interface StreamSource {
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
interface LobbyStream extends Wakeable {
  /** The lobby is known up to this event, which the stream has to deliver soon. */
  expect(seq: number): void;
}
/** A view of a lobby; `lobby` is updated by every response and every event. */
declare abstract class LobbyView {
  #private;
  readonly code: string;
  lobby: Lobby | null;
  protected readonly link: Link;
  protected constructor(link: Link, code: string, lobby: Lobby | null);
  /** Applies a state unless a later one is known, and returns the current state. */
  protected take(lobby: Lobby): Lobby;
  /** Applies an event, unless a later state is known. */
  protected apply(event: LobbyEvent): void;
  /**
   * Checks the connection of `events()` at once and replaces a dead one. A page does so by itself when it was hidden
   * for 5 s or the network is back; other hosts call it when the device woke or changed its network.
   */
  resumeNow(): void;
  abstract read(options?: CallOptions): Promise<{
    lobby: Lobby;
  }>;
  /**
   * The topic; null if `lastEventId` is the last event of a finished lobby, after which the hub is silent.
   * To resume after an event, the client needs the lobby's state at that event, not an older one.
   */
  protected findTopic(
    lastEventId: string | undefined,
    options: CallOptions,
  ): Promise<string | null>;
  /** Every event once and in order, until `isLast`; unknown types of a newer service are skipped. */
  protected follow(
    { token, readToken }: Pick<StreamSource, "token" | "readToken">,
    options: StreamOptions,
    isLast?: (event: LobbyEvent) => boolean,
  ): AsyncGenerator<LobbyEvent, void, undefined>;
}
/** A seat in a lobby and its commands; every call is safe to repeat. */
export declare class Seat extends LobbyView {
  #private;
  readonly key: SeatKey;
  /** `headers`: of the response that granted the seat. */
  constructor(link: Link, key: SeatKey, lobby?: Lobby | null, headers?: Headers);
  /**
   * The picks of the open co-op question that are known from events and reads; empty in versus. A `lobby.snapshot`
   * contains none: after it they are complete once `read()` has returned.
   */
  get picks(): PlayerPick[];
  /**
   * Reads the lobby. `player` is null if the seat no longer exists; `picks` are those of an open co-op
   * question, later ones from events included.
   */
  read(options?: CallOptions): Promise<SeatView>;
  /** Host, in a waiting lobby. */
  settings(changes: Settings, options?: CallOptions): Promise<void>;
  /** Host; draws the questions, which may take 20 s. */
  start(options?: CallOptions): Promise<Lobby>;
  /** Versus. `index` names the question, so that a late repeat never answers another one. */
  answer(
    choice: {
      index: number;
      selected_index: number;
      time_taken_ms: number;
    },
    options?: CallOptions,
  ): Promise<AnswerResult>;
  /** Co-op; can be changed until the host locks. */
  pick(
    choice: {
      index: number;
      selected_index: number;
    },
    options?: CallOptions,
  ): Promise<void>;
  /** Host, co-op: the picks become answers. */
  lock(index: number, options?: CallOptions): Promise<Lobby>;
  /** Host: advances from question `index`, closing it first if it is open. */
  next(index: number, options?: CallOptions): Promise<Lobby>;
  /** Host: ends the game for everyone. */
  end(options?: CallOptions): Promise<Lobby>;
  /** Host: removes a player; with `ban` the player cannot return. */
  kick(
    playerId: number,
    options?: CallOptions & {
      ban?: boolean;
    },
  ): Promise<void>;
  leave(options?: CallOptions): Promise<void>;
  /** Requests the reveal of a question whose time is over. */
  reveal(options?: CallOptions): Promise<void>;
  heartbeat(options?: CallOptions): Promise<void>;
  /** Host of a finished lobby: the result sheet as comma-separated text. */
  resultSheet(options?: CallOptions): Promise<string>;
  /**
   * The events of the lobby; sends heartbeats while they are consumed. Ends after the end of the lobby, the
   * removal of this seat, or with the signal; throws if the service refuses permanently.
   */
  events(options?: StreamOptions): AsyncGenerator<LobbyEvent, void, undefined>;
  protected take(lobby: Lobby): Lobby;
  protected apply(event: LobbyEvent): void;
}
/** A spectator's view of a public lobby: it can be followed, but not played. */
export declare class Spectator extends LobbyView {
  #private;
  constructor(link: Link, code: string, token: string);
  /** Reads the lobby; `player` is null because there is no seat. */
  read(options?: CallOptions): Promise<{
    lobby: Lobby;
    player: null;
  }>;
  /** Like the events of a seat, without the picks of co-op. */
  events(options?: StreamOptions): AsyncGenerator<LobbyEvent, void, undefined>;
}
/**
 * Whether the revealed answer matches the hash that was published with the question. Pass the hash as
 * received then. Null if it cannot be verified: without a hash, or on a page without https, where browsers
 * offer no cryptography.
 */
export declare function verifyReveal(
  answerHash: string | null,
  question: Question,
  reveal: Reveal,
): Promise<boolean | null>;
/** Client of an emberline service: identity, lobbies, and seats to resume. */
export declare class Emberline {
  #private;
  constructor(options?: EmberlineOptions);
  /** The guest of this client: the stored one, renewed by its reclaim token, or a new one. */
  guest(options?: CallOptions): Promise<Guest>;
  /** Not retried, because the caller wants the current state. */
  health({ deadlineMs, signal }?: CallOptions): Promise<Health>;
  categories(options?: CallOptions): Promise<
    {
      name: string;
      num_questions: number;
    }[]
  >;
  /** Public lobbies that are waiting or being played, newest first. */
  lobbies(options?: CallOptions): Promise<Lobby[]>;
  lobby(code: string, options?: CallOptions): Promise<Lobby>;
  /** Creates a lobby and takes the host's seat. */
  create(fields: NewLobby, options?: CallOptions): Promise<Seat>;
  /** Takes a seat in a waiting lobby; `text` is its code or a link to it, as in `lobbyCode`. */
  join(text: string, name: string, options?: CallOptions): Promise<Seat>;
  /** Resumes a seat; sends no request. */
  seat(key: SeatKey): Seat;
  /** Watches a public lobby without a seat. */
  spectate(text: string, options?: CallOptions): Promise<Spectator>;
  /** The complete public list after every change; ends with the signal. */
  publicLobbies(options?: StreamOptions): AsyncGenerator<Lobby[], void, undefined>;
  /**
   * The events of a room of another kind, with its data by type: `follow<ChessEventData>({ kind: "chess", code })`. Ends
   * after `<kind>.ended`, or with the signal; throws if the service refuses permanently.
   */
  follow<Data extends object>(
    { kind, code, token }: RoomKey,
    options?: StreamOptions,
  ): AsyncGenerator<RoomEvent<Data>, void, undefined>;
  /** Checks the connections of all streams at once, like `resumeNow` of a seat. */
  resumeNow(): void;
  /**
   * Calls any endpoint as the current caller and returns the `body` of the response, undefined without one.
   * A GET is retried like every call of this client, unless `once` is set. Other methods are retried only
   * with a `key`, and only sensibly on endpoints that support it (see the API documentation).
   */
  call<T>(
    method: Call["method"],
    path: string,
    {
      body,
      once,
      ...options
    }?: CallOptions & {
      body?: unknown;
      once?: boolean;
    },
  ): Promise<T>;
}
export {};
