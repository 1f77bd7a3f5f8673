/*!
 * The trivia lobbies of an emberline service, for browsers and Node 22: one file without imports.
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
  /** hex SHA-256 of `<answer_salt>\n<id>\n<correct_index>\n<text of the right choice>`; the reveal brings the salt */
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
/** What one seat gave; `selected_index` is -1 where time ran out. */
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
  num_questions: number | null;
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
/** A closed question with its answer, and what each seat gave. */
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
/** What a seat that answers in versus learns before the others. */
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
/** A lobby as one seat reads it. */
export interface SeatView {
  lobby: Lobby;
  player: SeatRef | null;
  /** for a seat in co-op while a question is open: what everybody picked by now */
  picks?: {
    player_id: number;
    selected_index: number;
  }[];
}
export interface NewLobby {
  /** 1 to 64 characters after trimming, all seen and of one script (Latin goes with Chinese, Japanese and Korean) */
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
/** What each event of a lobby carries. */
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
    reason: "left" | "kicked";
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
  /** Grows by one with every event of the lobby. */
  seq: number;
  at_ms: number;
  data: D;
}
export type LobbyEvent = {
  [T in keyof LobbyEventData]: Message<T, LobbyEventData[T]>;
}[keyof LobbyEventData];
/** The public list as it is now; it has no numbers, each state replaces the one before. */
export type ListEvent = Omit<
  Message<
    "lobbies.updated",
    {
      lobbies: Lobby[];
    }
  >,
  "seq"
>;
/** Time and chance, so that tests can stand in for both. `sleep` resolves early when aborted. */
export interface Clock {
  /** Milliseconds since 1970, as the device has them: somebody may set them forward or back. */
  now(): number;
  /** Milliseconds since any moment, never set: what durations are measured by. */
  elapsed(): number;
  /** 0 to below 1. */
  random(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}
/** A guest player of the service; whoever holds `reclaim_token` can be it again. */
export interface Guest {
  player_id: number;
  name: string;
  access_token: string;
  expires_at_ms: number;
  /** How long the access token was good when it came; longer by the clock means that it was set back. */
  lifetime_ms?: number;
  reclaim_token: string;
}
/** Where the guest is kept between visits; without one it lives as long as the client. */
export interface GuestStore {
  load(): Guest | null;
  save(guest: Guest | null): void;
}
export interface EmberlineOptions {
  /** Address of the service without a path; a page the service itself serves needs none. */
  url?: string;
  guest?: GuestStore;
  /**
   * Access token of an account, asked for before every call that needs one; then no guest is made. It
   * has to be good: to `join` one that has expired is none, and the seat belongs to nobody's account.
   * With null a call goes out without one, for what is public.
   */
  accessToken?: () => string | null | Promise<string | null>;
  /** How topics of the service begin (its setting TOPIC_BASE). */
  topicBase?: string;
  fetch?: typeof fetch;
  clock?: Clock;
  /**
   * Who calls is said by headers alone, so that two seats in one browser stay apart; and nothing comes from the
   * browser's cache. A page that the service itself serves may want its cookies or its cache.
   */
  credentials?: "omit" | "same-origin";
  cache?: "no-store" | "default";
}
export interface CallOptions {
  signal?: AbortSignal;
  /** Time for all tries together; 30 s, for `start` 60 s. */
  deadlineMs?: number;
  /** `Idempotency-Key`: a call repeated with it counts once. Random when absent. */
  key?: string;
}
/** How the service is, and which version of it answers. */
export interface Health {
  status: "ok" | "degraded";
  uptime: string;
  version: string;
}
export type StreamState = "connecting" | "open" | "lost";
export interface StreamOptions {
  signal?: AbortSignal;
  /** Event after which to go on, kept from an earlier stream. */
  lastEventId?: string;
  onState?: (state: StreamState) => void;
}
/** All it takes to sit on a seat again. */
export interface SeatKey {
  code: string;
  token: string;
  playerId: number;
}
/**
 * A refusal. `code` is the service's own; with status 0 it is `network:unreachable`,
 * `network:timeout` or `network:broken_stream`, and nobody knows whether the call arrived. Unreachable is
 * the service also while something else answers in its place, whatever that says; `cause` tells it.
 */
export declare class EmberlineError extends Error {
  readonly status: number;
  readonly code: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Fields the service did not accept. */
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
  /** The service said when to try again. */
  get retryAfterMs(): number | null;
  /**
   * The same call may succeed in a moment: the service is out of reach, busy or wants a pause. Questions
   * that could not be made are none of that, unless more are on their way: then it says when.
   */
  get isPassing(): boolean;
  /** The seat, its token or the lobby is gone; asking again cannot help. */
  get isFinal(): boolean;
}
/** First and longest pause between two tries, before chance takes up to half of it away. */
export declare const firstPauseMs = 250;
export declare const maxPauseMs = 15000;
/**
 * Pause after the try with this number (from 0): doubles from `firstMs`, halved by chance at most.
 * What the service asks for is a lower bound, with chance on top so that not all return at once.
 */
export declare function pauseAfter(
  attempt: number,
  random: number,
  retryAfterMs?: number | null,
  firstMs?: number,
): number;
/** `crypto.randomUUID` is missing where a phone opens a page by address, without https. */
export declare function randomKey(): string;
interface Link {
  url: string;
  fetch: typeof fetch;
  clock: Clock;
  /** Spread into a request, since the types of Node know no `cache`. */
  request: Required<Pick<EmberlineOptions, "credentials" | "cache">>;
}
interface Call {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  path: string;
  headers?: Record<string, string>;
  body?: unknown;
  tryMs?: number;
  /** By which a success is known as one of the service; an envelope with a `body` when absent. */
  brings?: "sheet" | "hubToken" | "anything";
}
/** The service sends a comment every 15 s; a connection silent for two of them is dead. */
export declare const silenceMs = 35000;
/** Largest event; the public list with all its lobbies stays far below. */
export declare const maxEventChars = 4194304;
/** Without data it is no event and only moves the id: something happened that is not for this reader. */
interface Frame {
  id: string | null;
  event: string;
  data: string;
}
interface Parsed {
  frames: Frame[];
  retryMs: number | null;
}
/** Reads an event stream piece by piece; throws when an event does not end. */
export declare function createEventParser(maxChars?: number): (text: string) => Parsed;
interface StreamSource {
  /** Asked for until it is known; null when nothing can follow the last event that was seen. */
  findTopic: (options: CallOptions) => Promise<string | null>;
  /** Known from before; one that is refused is replaced. */
  token: string | null;
  /** A fresh hub token, or null where the topic needs none. */
  readToken: ((options: CallOptions) => Promise<string>) | null;
}
/**
 * The lobby after an event: small events carry what changed, the others the lobby itself. Events
 * and answers overtake each other, so what is older than the known state changes nothing; only a
 * snapshot counts always, since it follows a gap.
 */
export declare function foldLobby(lobby: Lobby | null, event: LobbyEvent): Lobby | null;
/**
 * The code of a lobby in what a person typed or pasted: in any case, with spaces or dashes, or as a whole
 * link. Of a text without one it is that text, which the service refuses.
 */
export declare function lobbyCode(text: string): string;
/** A lobby as somebody sees it; `lobby` is kept up with every answer and every event. */
declare abstract class LobbyView {
  readonly code: string;
  lobby: Lobby | null;
  protected readonly link: Link;
  protected constructor(link: Link, code: string, lobby: Lobby | null);
  /** Takes over a lobby unless a later state is known, and answers what is known then. */
  protected take(lobby: Lobby): Lobby;
  abstract read(options?: CallOptions): Promise<{
    lobby: Lobby;
  }>;
  /**
   * The topic, unless `lastEventId` is the end of a lobby that is over: the hub is silent then. Who
   * goes on after an event needs the lobby as it was by then, which a state known earlier may not be.
   */
  protected findTopic(
    lastEventId: string | undefined,
    options: CallOptions,
  ): Promise<string | null>;
  /** Every event once and in order, until `isLast`; unknown kinds of a newer service are left out. */
  protected follow(
    { token, readToken }: Pick<StreamSource, "token" | "readToken">,
    options: StreamOptions,
    isLast: (event: LobbyEvent) => boolean,
  ): AsyncGenerator<LobbyEvent, void, undefined>;
}
/** One seat in one lobby and everything it may ask; each call is repeated safely. */
export declare class Seat extends LobbyView {
  readonly key: SeatKey;
  constructor(link: Link, key: SeatKey, lobby?: Lobby | null);
  /**
   * Reads the lobby; `player` is null when the seat is no longer there, `picks` are those of an open
   * co-op question, which no snapshot tells.
   */
  read(options?: CallOptions): Promise<SeatView>;
  /** Host, while waiting. */
  settings(changes: Settings, options?: CallOptions): Promise<void>;
  /** Host; draws the questions, which may take 20 s. */
  start(options?: CallOptions): Promise<Lobby>;
  /** Versus. `index` is the question meant: a late repeat never answers another one. */
  answer(
    choice: {
      index: number;
      selected_index: number;
      time_taken_ms: number;
    },
    options?: CallOptions,
  ): Promise<AnswerResult>;
  /** Co-op; may change until the host locks. */
  pick(
    choice: {
      index: number;
      selected_index: number;
    },
    options?: CallOptions,
  ): Promise<void>;
  /** Host, co-op: the picks become answers. */
  lock(index: number, options?: CallOptions): Promise<Lobby>;
  /** Host: leaves the question `index`, closing it first when it is open. */
  next(index: number, options?: CallOptions): Promise<Lobby>;
  /** Host: ends the game for everybody. */
  end(options?: CallOptions): Promise<Lobby>;
  /** Host: removes a player; with `ban` that player cannot come back. */
  kick(
    playerId: number,
    options?: CallOptions & {
      ban?: boolean;
    },
  ): Promise<void>;
  leave(options?: CallOptions): Promise<void>;
  /** Asks for the reveal of a question whose time is over. */
  reveal(options?: CallOptions): Promise<void>;
  heartbeat(options?: CallOptions): Promise<void>;
  /** Host of a finished lobby: the result sheet as comma-separated text. */
  resultSheet(options?: CallOptions): Promise<string>;
  /**
   * The events of the lobby, with heartbeats as long as they are read. Ends after the lobby ended
   * or this seat was removed, and with the signal; throws when the service refuses for good.
   */
  events(options?: StreamOptions): AsyncGenerator<LobbyEvent, void, undefined>;
  private keepBeating;
  /** A refusal shows on the stream as well; a missed beat is made up for by the next one. */
  private beat;
  /** A command that is answered with nothing. */
  private tell;
  private command;
  private call;
}
/** A public lobby seen from outside: it can be followed, not played. */
export declare class Spectator extends LobbyView {
  private readonly token;
  constructor(link: Link, code: string, token: string);
  /** Reads the lobby; there is no seat, so `player` is null. */
  read(options?: CallOptions): Promise<{
    lobby: Lobby;
    player: null;
  }>;
  /** As those of a seat, without the picks of co-op. */
  events(options?: StreamOptions): AsyncGenerator<LobbyEvent, void, undefined>;
}
/** An emberline service: who calls, lobbies to enter, seats to come back to. */
export declare class Emberline {
  private readonly link;
  private readonly options;
  private readonly store;
  private entering;
  /** The access token this client got last, and until when it is good by the clock nobody sets. */
  private got;
  constructor(options?: EmberlineOptions);
  /** The guest of this client: the kept one, renewed by its reclaim token, or a new one. */
  guest(options?: CallOptions): Promise<Guest>;
  /** Goes out once: whoever wants to know how the service is, wants to know it now. */
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
  /** Opens a lobby and sits down as its host. */
  create(fields: NewLobby, options?: CallOptions): Promise<Seat>;
  /** Sits down in a waiting lobby; `text` is its code or a link to it, as `lobbyCode` reads them. */
  join(text: string, name: string, options?: CallOptions): Promise<Seat>;
  /** A seat taken earlier; asks nothing. */
  seat(key: SeatKey): Seat;
  /** Watches a public lobby without a seat. */
  spectate(text: string, options?: CallOptions): Promise<Spectator>;
  /** The public list, whole with every change; ends with the signal. */
  publicLobbies(options?: StreamOptions): AsyncGenerator<Lobby[], void, undefined>;
  /**
   * Asks any address of the service as the caller and gives the `body` of the answer, undefined where it has
   * none. A GET is repeated like every call of this client, unless it goes out `once`; anything else only under a
   * `key`, since not every address counts a key once (its page of the documentation says so), and otherwise goes
   * out once.
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
  private get;
  private sit;
  /** Runs a call under the own identity; once more with a renewed one when its token is refused. */
  private asCaller;
  /** A join by a token that has expired would be one by nobody, so a clock that was set is no excuse. */
  private isGood;
  private accessToken;
  /** A guest whose reclaim token is refused is gone for good; play goes on as a new one. */
  private enter;
  private openGuest;
}
/**
 * Whether the revealed answer is the one whose hash was published when the question began; pass
 * the hash as it was then. Null where nothing can be said: no hash, or a page without https, to
 * which browsers give no cryptography.
 */
export declare function verifyReveal(
  answerHash: string | null,
  question: Question,
  reveal: Reveal,
): Promise<boolean | null>;
export {};
