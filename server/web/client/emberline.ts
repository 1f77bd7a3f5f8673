/*!
 * The trivia lobbies of an emberline service, for browsers and Node 22: one file without imports.
 * Commands are repeated safely, event streams resume where they were cut.
 *
 *   const service = new Emberline({ url: "http://127.0.0.1:8080" });
 *   const seat = await service.join("ABC234", "Ada");
 *   for await (const event of seat.events()) console.log(event.type, seat.lobby?.status);
 */

// Types of the interface document, by `npm run client:types`.

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

// End of the types of the interface document.

export type PlayerPick = NonNullable<SeatView["picks"]>[number];
export type EndReason = LobbyEventData["lobby.ended"]["reason"];

export interface Message<T extends string, D> {
  type: T;
  topic: string;
  /** Increases by one with every event of the lobby. */
  seq: number;
  at_ms: number;
  data: D;
}

export type LobbyEvent = {
  [T in keyof LobbyEventData]: Message<T, LobbyEventData[T]>;
}[keyof LobbyEventData];

/** The current public list. It has no sequence numbers; each state replaces the previous one. */
export type ListEvent = Omit<Message<"lobbies.updated", { lobbies: Lobby[] }>, "seq">;

const lobbyEventTypes: Readonly<Record<LobbyEvent["type"], true>> = {
  "lobby.snapshot": true,
  "lobby.player_joined": true,
  "lobby.settings": true,
  "lobby.started": true,
  "lobby.answer": true,
  "lobby.pick": true,
  "lobby.reveal": true,
  "lobby.question": true,
  "lobby.host_disconnect": true,
  "lobby.player_removed": true,
  "lobby.spectators": true,
  "lobby.ended": true,
  "lobby.gap": true,
};

/** Time and randomness, replaceable in tests. `sleep` resolves early when aborted. */
export interface Clock {
  /** Milliseconds since 1970 by the device's clock, which may be set forward or back. */
  now(): number;
  /** Milliseconds of a monotonic clock, for measuring durations. */
  elapsed(): number;
  /** From 0 to below 1. */
  random(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
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

/** Storage of the guest between visits; without one the guest lasts as long as the client. */
export interface GuestStore {
  load(): Guest | null;
  save(guest: Guest | null): void;
}

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

export type StreamState = "connecting" | "open" | "lost";

export interface StreamOptions {
  signal?: AbortSignal;
  /** Id of the last event of an earlier stream, to resume after it. */
  lastEventId?: string;
  onState?: (state: StreamState) => void;
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
 */
export class EmberlineError extends Error {
  readonly status: number;
  readonly code: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Invalid fields. */
  readonly violations: readonly { propertyPath: string; title: string }[];

  constructor(
    status: number,
    code: string,
    message: string,
    detail: {
      params?: Record<string, unknown>;
      violations?: { propertyPath: string; title: string }[];
      cause?: unknown;
    } = {},
  ) {
    super(message, { cause: detail.cause });
    this.name = "EmberlineError";
    this.status = status;
    this.code = code;
    this.params = detail.params ?? {};
    this.violations = detail.violations ?? [];
  }

  /** When to retry, if the service said so. */
  get retryAfterMs(): number | null {
    const seconds = this.params["retry_after"];
    return typeof seconds === "number" && seconds >= 0 ? seconds * 1000 : null;
  }

  /**
   * True if the same call may succeed shortly: the service is unreachable, busy or rate limiting. A failed
   * question generation does not count, unless more questions are on the way, in which case the service
   * says when to retry.
   */
  get isPassing(): boolean {
    if (this.status === 503)
      return this.code !== "generator:unavailable" || this.retryAfterMs !== null;
    return [0, 502, 504].includes(this.status) || this.code === "rate_limit:exceeded";
  }

  /** True if the seat, its token or the lobby no longer exists, so that a retry cannot help. */
  get isFinal(): boolean {
    return [401, 403, 404].includes(this.status);
  }
}

interface Envelope {
  version?: unknown;
  /** The status, repeated. */
  code?: unknown;
  meta?: unknown;
  body?: unknown;
  flash?: {
    errors?: { code: string; message: string; params?: Record<string, unknown> }[];
    violations?: { propertyPath: string; title: string }[];
  };
}

/** A maintenance page may ask for an hour although the service is back in ten seconds. */
const mostAskedElsewhereS = 60;

/**
 * Reads a refusal. A refusal by a proxy or a firewall says nothing about the seat, the guest or the call,
 * so it counts as a temporary network failure.
 */
function errorOf(response: Response, text: string): EmberlineError {
  const { status, headers } = response;
  const { flash } = parseEnvelope(text);
  const error = flash?.errors?.[0];
  const retryAfter = Number(headers.get("Retry-After") ?? Number.NaN);
  const isOwn = typeof error?.code === "string";
  const seconds = isOwn ? retryAfter : Math.min(retryAfter, mostAskedElsewhereS);
  const asked = Number.isFinite(seconds) ? { retry_after: seconds } : {};
  if (!isOwn) return unreachable(notOurs(status), asked);
  const violations = flash?.violations ?? [];
  const [first] = violations;
  const message = first ? `${first.propertyPath}: ${first.title}` : error.message;
  const params = { ...asked, ...error.params };
  return new EmberlineError(status, error.code, message, { params, violations });
}

function unreachable(cause: unknown, params: Record<string, unknown> = {}): EmberlineError {
  const message = "The service cannot be reached.";
  return new EmberlineError(0, "network:unreachable", message, { cause, params });
}

const notOurs = (status: number) =>
  new TypeError(`Something else answered in place of the service, with ${status}.`);

/** Anything may respond in place of the service. */
function parseEnvelope(text: string): Envelope {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}

/** Browsers treat a longer delay as zero. */
const maxTimerMs = 2_147_483_647;

const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  random: () => Math.random(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, Math.min(ms, maxTimerMs));
      signal?.addEventListener("abort", done);
      if (signal?.aborted) done();
    }),
};

/** First and longest delay between two attempts, before jitter removes up to half of it. */
export const firstPauseMs = 250;
export const maxPauseMs = 15_000;

/**
 * Delay after the attempt with this number (from 0): doubles from `firstMs`; jitter removes up to half. A
 * delay requested by the service is a lower bound, plus jitter, so that clients do not return at the same
 * time.
 */
export function pauseAfter(
  attempt: number,
  random: number,
  retryAfterMs: number | null = null,
  firstMs: number = firstPauseMs,
): number {
  const ceiling = Math.min(maxPauseMs, firstMs * 2 ** Math.min(attempt, 16));
  const ownMs = ceiling * (0.5 + random / 2);
  return retryAfterMs === null ? ownMs : Math.max(ownMs, retryAfterMs + random * firstMs);
}

/** `crypto.randomUUID` is missing without https, for example on a phone that uses an IP address. */
export function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** A controller that is also aborted by `signal`, until `unlink`. */
function linked(signal: AbortSignal | undefined) {
  const controller = new AbortController();
  const stop = () => controller.abort(signal?.reason);
  signal?.addEventListener("abort", stop);
  if (signal?.aborted) stop();
  return { controller, unlink: () => signal?.removeEventListener("abort", stop) };
}

/** Timeout of one attempt; a frozen server process is then abandoned for another one. */
const tryMs = 8_000;
/** The same on the port of one worker: after two seconds another worker takes over the lobbies of a frozen one. */
const ownerTryMs = 3_000;
const callDeadlineMs = 30_000;
/** Drawing questions may take the service 20 s. */
const startTryMs = 35_000;
const startDeadlineMs = 60_000;

interface Link {
  url: string;
  fetch: typeof fetch;
  clock: Clock;
  /** Spread into a request, because Node's types do not include `cache`. */
  request: Required<Pick<EmberlineOptions, "credentials" | "cache">>;
  /** Null: owners are not followed. */
  ports: WorkerPorts | null;
  /** Route to the owner of one lobby; null for requests without a lobby. */
  owner: OwnerRoute | null;
}

const urlNow = ({ url, owner }: Link) => owner?.url ?? url;
const tryLimitOf = (link: Link, url: string) => (url === link.url ? tryMs : ownerTryMs);

/** Response header: port of the worker that owns the lobby. */
const ownerPortHeader = "X-Owner-Port";
const probePath = "/v1/health-check";
/** Timeout of a probe. */
const probeMs = 1_000;
/** An unreachable port is not probed again for this time. */
const unreachableMs = 300_000;
/** The same for a port that was reachable before: the worker restarts soon. Doubles with each failure. */
const firstLeftMs = 5_000;
/** Minimum time on one port: during a change of owner, two workers may name each other for a moment. */
const minStayMs = 1_000;

/** The same URL with another port; null when the own URL is unknown. */
function atPort(url: string, port: number): string | null {
  const { location } = globalThis as { location?: { origin: string } };
  try {
    const there = new URL(url === "" ? (location?.origin ?? "") : url);
    there.port = String(port);
    return there.href.replace(/\/+$/, "");
  } catch {
    return null;
  }
}

/** Reachability of the workers' ports, shared by all lobbies of a client. */
class WorkerPorts {
  private readonly link: Link;
  private readonly known = new Map<number, { isThere: Promise<boolean>; until: number }>();
  private readonly failures = new Map<number, number>();

  constructor(link: Link) {
    this.link = link;
  }

  urlOf(port: number): string {
    return atPort(this.link.url, port) ?? this.link.url;
  }

  /** Whether the service responds on this port; probed once, and again some time after a failure. */
  reach(port: number): Promise<boolean> {
    const { clock } = this.link;
    const known = this.known.get(port);
    if (known && clock.elapsed() < known.until) return known.isThere;
    const isThere = this.probe(port).then((isFound) => {
      if (!isFound) this.avoid(port, unreachableMs);
      return isFound;
    });
    this.known.set(port, { isThere, until: Infinity });
    return isThere;
  }

  /** A request to this port failed without a response. */
  failed(port: number): void {
    const failures = this.failures.get(port) ?? 0;
    this.failures.set(port, failures + 1);
    this.avoid(port, Math.min(unreachableMs, firstLeftMs * 2 ** Math.min(failures, 16)));
  }

  private avoid(port: number, ms: number): void {
    const until = this.link.clock.elapsed() + ms;
    this.known.set(port, { isThere: Promise.resolve(false), until });
  }

  /** Any response of the service counts, refusals included. */
  private async probe(port: number): Promise<boolean> {
    const url = atPort(this.link.url, port);
    if (url === null) return false;
    try {
      const call = { method: "GET", path: probePath } as const;
      // A cached response would not show that the port is reachable.
      const request = { credentials: "omit", cache: "no-store" } as const;
      await sendOnce({ ...this.link, url, request }, call, probeMs);
      return true;
    } catch (error) {
      return error instanceof EmberlineError && error.status > 0;
    }
  }
}

/**
 * Route to the worker that owns one lobby: its own port, once responses have named it and a probe succeeded; else the
 * port that all workers share, which serves every request as well.
 */
class OwnerRoute {
  private readonly link: Link;
  private readonly ports: WorkerPorts;
  private readonly listeners = new Set<() => void>();
  /** Null: the shared one. */
  private port: number | null = null;
  private named: number | null = null;
  private movedAt = -Infinity;
  /** Resolves when the named port is in use or known as unreachable, after one second at most. */
  settled: Promise<void> = Promise.resolve();

  constructor(link: Link, ports: WorkerPorts) {
    this.link = link;
    this.ports = ports;
  }

  get url(): string {
    return this.port === null ? this.link.url : this.ports.urlOf(this.port);
  }

  /** Reads the owner's port from a response; without the header nothing changes. */
  learn(headers: Headers): void {
    const port = Number(headers.get(ownerPortHeader) ?? 0);
    if (!Number.isInteger(port) || port < 1 || port > 65_535) return;
    this.named = port;
    if (port === this.port) return;
    if (this.link.clock.elapsed() - this.movedAt < minStayMs) return;
    this.settled = this.ports.reach(port).then((isThere) => {
      if (isThere && this.named === port) this.move(port);
    });
  }

  /** A request to `url` failed without a response; true when it may be retried on another port at once. */
  leave(url: string): boolean {
    if (url === this.link.url) return false;
    if (this.port !== null && url === this.url) {
      this.ports.failed(this.port);
      this.move(null);
    }
    return true;
  }

  /** Calls the listener after each change of the port, until the returned function is called. */
  onMove(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  private move(port: number | null): void {
    const before = this.url;
    if (port !== null) this.movedAt = this.link.clock.elapsed();
    this.port = port;
    if (this.url !== before) for (const listener of [...this.listeners]) listener();
  }
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

const hubTokenHeader = "X-Hub-Token";

interface Answer {
  text: string;
  version: unknown;
  body: unknown;
  headers: Headers;
}

/** The `body` of the envelope, in the shape that the service declares. */
function bodyOf<T>(answer: Answer): T {
  return answer.body as T;
}

/**
 * Reads a success. Captive portals and proxies also respond with 200 or 204: such a response counts as a
 * network failure, because nothing was done.
 */
function answerOf({ status, headers }: Response, text: string, brings: Call["brings"]): Answer {
  const { version, code, meta, body } = parseEnvelope(text);
  const hasBody = body !== undefined;
  const isOwn = {
    body: hasBody,
    sheet: (headers.get("Content-Type") ?? "").startsWith("text/csv"),
    hubToken: headers.has(hubTokenHeader),
    anything: hasBody || status === 204 || (code === status && meta !== undefined),
  };
  if (!isOwn[brings ?? "body"]) throw notOurs(status);
  return { text, version, body, headers };
}

async function sendOnce(
  link: Link,
  call: Call,
  limitMs: number,
  signal?: AbortSignal,
): Promise<Answer> {
  // A body that cannot be serialized is a mistake of the caller, not a network failure.
  const body = call.body === undefined ? null : JSON.stringify(call.body);
  const { controller, unlink } = linked(signal);
  const done = new AbortController();
  let isLate = false;
  void link.clock.sleep(limitMs, done.signal).then(() => {
    isLate = !done.signal.aborted;
    controller.abort();
  });
  try {
    const response = await link.fetch(urlNow(link) + call.path, {
      method: call.method,
      headers: {
        ...(body === null ? {} : { "Content-Type": "application/json" }),
        ...call.headers,
      },
      ...link.request,
      signal: controller.signal,
      body,
    });
    link.owner?.learn(response.headers);
    const text = await response.text();
    if (!response.ok) throw errorOf(response, text);
    return answerOf(response, text, call.brings);
  } catch (cause) {
    if (cause instanceof EmberlineError) throw cause;
    signal?.throwIfAborted();
    throw isLate
      ? new EmberlineError(0, "network:timeout", "The service does not answer.", { cause })
      : unreachable(cause);
  } finally {
    done.abort();
    unlink();
  }
}

/** Repeats the same call while it fails for a temporary reason, until the deadline. */
async function send(link: Link, call: Call, options: CallOptions = {}): Promise<Answer> {
  const { clock } = link;
  const deadlineAt = clock.elapsed() + (options.deadlineMs ?? callDeadlineMs);
  for (let attempt = 0; ; attempt++) {
    options.signal?.throwIfAborted();
    const url = urlNow(link);
    const mostMs = call.tryMs ?? tryLimitOf(link, url);
    const limitMs = Math.max(1, Math.min(mostMs, deadlineAt - clock.elapsed()));
    try {
      return await sendOnce(link, call, limitMs, options.signal);
    } catch (error) {
      if (!(error instanceof EmberlineError) || !error.isPassing) throw error;
      const isElsewhere = error.status === 0 && link.owner?.leave(url);
      if (isElsewhere && clock.elapsed() < deadlineAt) continue;
      const pauseMs = pauseAfter(attempt, clock.random(), error.retryAfterMs);
      if (clock.elapsed() + pauseMs >= deadlineAt) throw error;
      await clock.sleep(pauseMs, options.signal);
    }
  }
}

/** A call that changes something: its key makes repeats idempotent. */
function sendKeyed(link: Link, call: Call, options: CallOptions = {}): Promise<Answer> {
  const headers = { ...call.headers, "Idempotency-Key": options.key ?? randomKey() };
  return send(link, { ...call, headers }, options);
}

/** Waits for work shared with other callers: signal and deadline end the wait, but not the work. */
async function waitFor<T>(clock: Clock, work: Promise<T>, options: CallOptions): Promise<T> {
  const { controller, unlink } = linked(options.signal);
  const limit = clock.sleep(options.deadlineMs ?? callDeadlineMs, controller.signal).then(() => {
    options.signal?.throwIfAborted();
    throw new EmberlineError(0, "network:timeout", "The service does not answer.");
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    controller.abort();
    unlink();
  }
}

const hubPath = "/v1/hub";
/** The service sends a comment every 15 s; a connection silent for two intervals is dead. */
export const silenceMs = 35_000;
/** Default until the service sends a reconnect time. */
const defaultRetryMs = 2_000;
/** A connection that lasted this long, or delivered an event, resets the number of failures. */
const soundMs = 5_000;
/** Maximum size of an event; the complete public list is far smaller. */
export const maxEventChars = 4_194_304;

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
export function createEventParser(maxChars: number = maxEventChars): (text: string) => Parsed {
  let rest = "";
  let frame: Frame = { id: null, event: "message", data: "" };
  const readLine = (line: string, parsed: Parsed): void => {
    if (line === "") {
      if (frame.data !== "" || frame.id !== null)
        parsed.frames.push({ ...frame, data: frame.data.slice(0, -1) });
      frame = { id: null, event: "message", data: "" };
      return;
    }
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "id" && !value.includes("\0")) frame.id = value;
    if (name === "event") frame.event = value;
    if (name === "data") frame.data += `${value}\n`;
    if (name === "retry" && /^\d{1,9}$/.test(value)) parsed.retryMs = Number(value);
  };
  return (text) => {
    const parsed: Parsed = { frames: [], retryMs: null };
    // A carriage return at the very end may be the first half of a line break.
    const lines = (rest + text).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? "";
    for (const line of lines) readLine(line, parsed);
    if (rest.length + frame.data.length > maxChars) throw brokenStream("An event is too large.");
    return parsed;
  };
}

const brokenStream = (message: string, cause?: unknown) =>
  new EmberlineError(0, "network:broken_stream", message, { cause });

interface StreamSource {
  /** Called until the topic is known; null if no event can follow the last one received. */
  findTopic: (options: CallOptions) => Promise<string | null>;
  /** A cached token; replaced when refused. */
  token: string | null;
  /** Gets a new hub token; null if the topic needs none. */
  readToken: ((options: CallOptions) => Promise<string>) | null;
}

/** State of a stream across its connections. */
interface StreamMemory {
  topic: string | null;
  lastEventId: string | null;
  retryMs: number;
  token: string | null;
  failures: number;
  /** When the current connection was accepted. */
  openedAt: number | null;
  /** Target of the current connection. */
  url: string;
  /** The client closed the current connection to continue on another port. */
  isMoved: boolean;
}

/** The frames of one connection; returns when the service ends it in order. */
async function* readConnection(
  link: Link,
  topic: string,
  memory: StreamMemory,
  options: StreamOptions,
): AsyncGenerator<Frame, void, undefined> {
  const { clock } = link;
  const { controller, unlink } = linked(options.signal);
  memory.url = urlNow(link);
  memory.isMoved = false;
  const stay = link.owner?.onMove(() => {
    memory.isMoved = true;
    controller.abort();
  });
  // Opening the stream is a request like any other: a frozen server process is abandoned for another one.
  const limitMs = tryLimitOf(link, memory.url);
  const alive = { at: clock.elapsed(), isWaiting: true, limitMs };
  void endWhenSilent(clock, controller, alive);
  try {
    const body = await openConnection(link, topic, memory, controller.signal);
    alive.limitMs = silenceMs;
    memory.openedAt = clock.elapsed();
    options.onState?.("open");
    const reader = body.getReader();
    const decoder = new TextDecoder();
    const parse = createEventParser();
    for (;;) {
      Object.assign(alive, { at: clock.elapsed(), isWaiting: true });
      const { done, value } = await reader.read();
      alive.isWaiting = false;
      if (done) return;
      const { frames, retryMs } = parse(decoder.decode(value, { stream: true }));
      if (retryMs !== null) memory.retryMs = retryMs;
      yield* frames;
    }
  } catch (cause) {
    if (cause instanceof EmberlineError) throw cause;
    options.signal?.throwIfAborted();
    if (!memory.isMoved) throw brokenStream("The event stream was cut.", cause);
  } finally {
    stay?.();
    controller.abort();
    unlink();
  }
}

/** Ends a connection that receives not even a comment; time spent by the consumer does not count. */
async function endWhenSilent(
  clock: Clock,
  controller: AbortController,
  alive: { at: number; isWaiting: boolean; limitMs: number },
): Promise<void> {
  while (!controller.signal.aborted) {
    const { at, isWaiting, limitMs } = alive;
    const leftMs = isWaiting ? limitMs - (clock.elapsed() - at) : limitMs;
    if (leftMs <= 0) return controller.abort();
    await clock.sleep(leftMs, controller.signal);
  }
}

async function openConnection(
  link: Link,
  topic: string,
  { token, lastEventId, url }: StreamMemory,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  const response = await link.fetch(`${url}${hubPath}?topic=${encodeURIComponent(topic)}`, {
    headers: {
      Accept: "text/event-stream",
      ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
      ...(lastEventId === null ? {} : { "Last-Event-ID": lastEventId }),
    },
    ...link.request,
    signal,
  });
  link.owner?.learn(response.headers);
  if (!response.ok) throw errorOf(response, await response.text());
  const type = response.headers.get("Content-Type") ?? "";
  if (response.status === 200 && response.body && type.startsWith("text/event-stream"))
    return response.body;
  throw brokenStream("The service did not answer with an event stream.");
}

/** Parses a frame; text that is not JSON was damaged on the way. */
function parseMessage(frame: Frame): unknown {
  try {
    return JSON.parse(frame.data);
  } catch (cause) {
    throw brokenStream("An event could not be read.", cause);
  }
}

/** True if the service refuses the stream itself; its own failures are temporary. */
const isRefused = ({ status, isPassing }: EmberlineError) =>
  status >= 400 && status < 500 && !isPassing;

/**
 * The messages of a topic over as many connections as necessary. Ends with the signal; throws if the
 * service refuses permanently.
 */
async function* readTopic(
  link: Link,
  source: StreamSource,
  options: StreamOptions,
): AsyncGenerator<{ event: string; message: unknown }, void, undefined> {
  const { clock } = link;
  const callOptions = options.signal ? { signal: options.signal } : {};
  const memory: StreamMemory = {
    topic: null,
    lastEventId: options.lastEventId ?? null,
    retryMs: defaultRetryMs,
    token: source.token,
    failures: 0,
    openedAt: null,
    url: link.url,
    isMoved: false,
  };
  while (!options.signal?.aborted) {
    if (!memory.isMoved) options.onState?.("connecting");
    Object.assign(memory, { isMoved: false, openedAt: null, url: link.url });
    const wasKnown = memory.token !== null;
    let retryAfterMs: number | null = null;
    let isElsewhere = false;
    try {
      memory.topic ??= await source.findTopic(callOptions);
      if (memory.topic === null) return;
      memory.token ??= (await source.readToken?.(callOptions)) ?? null;
      await link.owner?.settled;
      for await (const frame of readConnection(link, memory.topic, memory, options)) {
        if (options.signal?.aborted) return;
        const message = frame.data === "" ? null : parseMessage(frame);
        memory.failures = 0;
        if (frame.id !== null) memory.lastEventId = frame.id === "" ? null : frame.id;
        if (message !== null) yield { event: frame.event, message };
      }
    } catch (error) {
      if (options.signal?.aborted) return;
      if (!(error instanceof EmberlineError)) throw error;
      const isOutdated = wasKnown && [401, 403].includes(error.status);
      if (isRefused(error) && !isOutdated) throw error;
      if (isOutdated) memory.token = null;
      retryAfterMs = error.retryAfterMs;
      isElsewhere = error.status === 0 && link.owner?.leave(memory.url) === true;
    }
    if (memory.isMoved) continue;
    options.onState?.("lost");
    if (isElsewhere) continue;
    const livedMs = clock.elapsed() - (memory.openedAt ?? clock.elapsed());
    if (livedMs >= soundMs) memory.failures = 0;
    const pauseMs = pauseAfter(memory.failures++, clock.random(), retryAfterMs, memory.retryMs);
    await clock.sleep(pauseMs, options.signal);
  }
}

/** A heartbeat every half minute shows that the player is still present. */
const heartbeatMs = 30_000;

/**
 * The lobby after an event: small events contain their change, others the lobby itself. Events and
 * responses may overtake each other, so outdated ones are ignored. A snapshot always counts, because it
 * follows a gap.
 */
export function foldLobby(lobby: Lobby | null, event: LobbyEvent): Lobby | null {
  if (event.type === "lobby.gap") return lobby;
  if (event.type === "lobby.snapshot") return event.data.lobby;
  if ("lobby" in event.data) return newerOf(lobby, event.data.lobby);
  if (!lobby || event.seq <= lobby.seq) return lobby;
  const next = { ...lobby, seq: event.seq };
  switch (event.type) {
    case "lobby.answer":
      return withAnswered(next, event.data.answered_player_ids);
    case "lobby.pick": {
      const ids = next.answered_player_ids.filter((id) => id !== event.data.player_id);
      const isNew = ids.length === next.answered_player_ids.length;
      return isNew ? withAnswered(next, [...ids, event.data.player_id]) : next;
    }
    case "lobby.host_disconnect":
      return { ...next, host_disconnect: event.data.host_disconnect };
    case "lobby.spectators":
      return { ...next, spectator_count: event.data.spectator_count };
    default:
      return next;
  }
}

function newerOf(known: Lobby | null, lobby: Lobby): Lobby {
  return known && known.seq > lobby.seq ? known : lobby;
}

function withAnswered(lobby: Lobby, ids: number[]): Lobby {
  const players = lobby.players.map((player) => ({
    ...player,
    has_answered: ids.includes(player.id),
  }));
  return { ...lobby, players, answered_player_ids: ids };
}

const lobbiesPath = "/v1/games/trivia/lobbies";
const pathOf = (code: string) => `${lobbiesPath}/${encodeURIComponent(code)}`;

const codePattern = /^[A-HJ-NP-Za-hj-np-z2-9]{6}$/;
const decoration =
  /[\s._\u00b7\u2022\u30fb\p{Pd}\p{Default_Ignorable_Code_Point}\u2212\u30fc\uff70]/gu;
const surroundings = /^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu;

/**
 * The lobby code in typed or pasted text: in any case, with spaces or dashes, or as a complete link. Text
 * without a code is returned unchanged, and the service refuses it.
 */
export function lobbyCode(text: string): string {
  const plain = (part: string) =>
    part
      .replace(surroundings, "")
      .replace(/[\uff01-\uff5e]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) - 0xfee0))
      .replace(decoration, "");
  const parts = [text, ...text.split(/[\s/?#&=:]+/)].map(plain);
  const codes = parts.filter((part) => codePattern.test(part));
  const asIssued = codes.filter((one) => one === one.toUpperCase());
  return (asIssued.at(-1) ?? codes.at(-1) ?? text).toUpperCase();
}

/** A view of a lobby; `lobby` is updated by every response and every event. */
abstract class LobbyView {
  readonly code: string;
  lobby: Lobby | null;
  protected readonly link: Link;

  protected constructor(link: Link, code: string, lobby: Lobby | null) {
    const { ports } = link;
    this.link = ports === null ? link : { ...link, owner: new OwnerRoute(link, ports) };
    this.code = code;
    this.lobby = lobby;
  }

  /** Applies a state unless a later one is known, and returns the current state. */
  protected take(lobby: Lobby): Lobby {
    this.lobby = newerOf(this.lobby, lobby);
    return this.lobby;
  }

  abstract read(options?: CallOptions): Promise<{ lobby: Lobby }>;

  /**
   * The topic; null if `lastEventId` is the last event of a finished lobby, after which the hub is silent.
   * To resume after an event, the client needs the lobby's state at that event, not an older one.
   */
  protected async findTopic(
    lastEventId: string | undefined,
    options: CallOptions,
  ): Promise<string | null> {
    const known = lastEventId === undefined ? this.lobby : null;
    const { status, seq, hub } = known ?? (await this.read(options)).lobby;
    return status === "finished" && Number(lastEventId) >= seq ? null : hub.topic;
  }

  /** Every event once and in order, until `isLast`; unknown types of a newer service are skipped. */
  protected async *follow(
    { token, readToken }: Pick<StreamSource, "token" | "readToken">,
    options: StreamOptions,
    isLast: (event: LobbyEvent) => boolean,
  ): AsyncGenerator<LobbyEvent, void, undefined> {
    const findTopic = (call: CallOptions) => this.findTopic(options.lastEventId, call);
    const source = { findTopic, token, readToken };
    let seen = -1;
    for await (const { event: type, message } of readTopic(this.link, source, options)) {
      if (!Object.hasOwn(lobbyEventTypes, type)) continue;
      const event = message as LobbyEvent;
      const isState = event.type === "lobby.snapshot" || event.type === "lobby.gap";
      if (!isState && event.seq <= seen) continue;
      seen = event.seq;
      this.lobby = foldLobby(this.lobby, event);
      yield event;
      if (isLast(event)) return;
    }
  }
}

const isEnd = (event: LobbyEvent) =>
  event.type === "lobby.ended" ||
  (event.type === "lobby.snapshot" && event.data.lobby.status === "finished");

/** A seat in a lobby and its commands; every call is safe to repeat. */
export class Seat extends LobbyView {
  readonly key: SeatKey;

  /** `headers`: of the response that granted the seat. */
  constructor(link: Link, key: SeatKey, lobby: Lobby | null = null, headers?: Headers) {
    super(link, key.code, lobby);
    this.key = key;
    if (headers) this.link.owner?.learn(headers);
  }

  /**
   * Reads the lobby. `player` is null if the seat no longer exists; `picks` are those of an open co-op
   * question, which snapshots do not contain.
   */
  async read(options?: CallOptions): Promise<SeatView> {
    const answer = await send(this.link, this.call("GET", "/status"), options);
    const { lobby, player, picks } = bodyOf<SeatView>(answer);
    const isNews = lobby.seq >= (this.lobby?.seq ?? 0);
    return { lobby: this.take(lobby), player, ...(isNews && picks ? { picks } : {}) };
  }

  /** Host, in a waiting lobby. */
  settings(changes: Settings, options?: CallOptions): Promise<void> {
    return this.tell(this.call("PATCH", "/settings", changes), options);
  }

  /** Host; draws the questions, which may take 20 s. */
  start(options: CallOptions = {}): Promise<Lobby> {
    const call = { ...this.call("POST", "/start"), tryMs: startTryMs };
    return this.command(call, { deadlineMs: startDeadlineMs, ...options });
  }

  /** Versus. `index` names the question, so that a late repeat never answers another one. */
  async answer(
    choice: { index: number; selected_index: number; time_taken_ms: number },
    options?: CallOptions,
  ): Promise<AnswerResult> {
    const answer = await sendKeyed(this.link, this.call("POST", "/answer", choice), options);
    return bodyOf<AnswerResult>(answer);
  }

  /** Co-op; can be changed until the host locks. */
  pick(choice: { index: number; selected_index: number }, options?: CallOptions): Promise<void> {
    return this.tell(this.call("POST", "/pick", choice), options);
  }

  /** Host, co-op: the picks become answers. */
  lock(index: number, options?: CallOptions): Promise<Lobby> {
    return this.command(this.call("POST", "/lock", { index }), options);
  }

  /** Host: advances from question `index`, closing it first if it is open. */
  next(index: number, options?: CallOptions): Promise<Lobby> {
    return this.command(this.call("POST", "/next", { index }), options);
  }

  /** Host: ends the game for everyone. */
  end(options?: CallOptions): Promise<Lobby> {
    return this.command(this.call("POST", "/end"), options);
  }

  /** Host: removes a player; with `ban` the player cannot return. */
  kick(playerId: number, options: CallOptions & { ban?: boolean } = {}): Promise<void> {
    const path = `/players/${playerId}${options.ban ? "?ban=true" : ""}`;
    return this.tell(this.call("DELETE", path), options);
  }

  leave(options?: CallOptions): Promise<void> {
    return this.tell(this.call("POST", "/leave"), options);
  }

  /** Requests the reveal of a question whose time is over. */
  async reveal(options?: CallOptions): Promise<void> {
    await send(this.link, this.call("POST", "/reveal"), options);
  }

  async heartbeat(options?: CallOptions): Promise<void> {
    await send(this.link, this.call("POST", "/heartbeat"), options);
  }

  /** Host of a finished lobby: the result sheet as comma-separated text. */
  async resultSheet(options?: CallOptions): Promise<string> {
    const call = { ...this.call("GET", "/results?format=csv"), brings: "sheet" } as const;
    return (await send(this.link, call, options)).text;
  }

  /**
   * The events of the lobby; sends heartbeats while they are consumed. Ends after the end of the lobby, the
   * removal of this seat, or with the signal; throws if the service refuses permanently.
   */
  async *events(options: StreamOptions = {}): AsyncGenerator<LobbyEvent, void, undefined> {
    const { controller, unlink } = linked(options.signal);
    const { signal } = controller;
    const readToken = (call: CallOptions) =>
      readHubToken(this.link, this.call("POST", "/token"), call);
    const isLast = (event: LobbyEvent) =>
      isEnd(event) ||
      (event.type === "lobby.player_removed" && event.data.player_id === this.key.playerId);
    const onState = (state: Parameters<NonNullable<StreamOptions["onState"]>>[0]) => {
      // After a long absence there may be little time left for the first heartbeat.
      if (state === "open") void this.beat(signal);
      options.onState?.(state);
    };
    try {
      void this.keepBeating(signal);
      yield* this.follow({ token: null, readToken }, { ...options, signal, onState }, isLast);
    } catch (error) {
      if (!options.signal?.aborted) throw error;
    } finally {
      controller.abort();
      unlink();
    }
  }

  private async keepBeating(signal: AbortSignal): Promise<void> {
    const { clock } = this.link;
    for (;;) {
      await clock.sleep(heartbeatMs, signal);
      if (signal.aborted) return;
      await this.beat(signal);
    }
  }

  /** A refusal also appears on the stream; the next heartbeat replaces a missed one. */
  private async beat(signal: AbortSignal): Promise<void> {
    await this.heartbeat({ signal, deadlineMs: heartbeatMs }).catch(() => undefined);
  }

  /** Sends a command without a response body. */
  private async tell(call: Call, options?: CallOptions): Promise<void> {
    await sendKeyed(this.link, { ...call, brings: "anything" }, options);
  }

  private async command(call: Call, options?: CallOptions): Promise<Lobby> {
    const answer = await sendKeyed(this.link, call, options);
    return this.take(bodyOf<{ lobby: Lobby }>(answer).lobby);
  }

  private call(method: Call["method"], path: string, body?: unknown): Call {
    const headers = { "X-Lobby-Token": this.key.token };
    return { method, path: pathOf(this.code) + path, headers, ...(body ? { body } : {}) };
  }
}

/** A spectator's view of a public lobby: it can be followed, but not played. */
export class Spectator extends LobbyView {
  private readonly token: string;

  constructor(link: Link, code: string, token: string) {
    super(link, code, null);
    this.token = token;
  }

  /** Reads the lobby; `player` is null because there is no seat. */
  async read(options?: CallOptions): Promise<{ lobby: Lobby; player: null }> {
    const call = { method: "GET", path: pathOf(this.code) } as const;
    const { lobby } = bodyOf<{ lobby: Lobby }>(await send(this.link, call, options));
    return { lobby: this.take(lobby), player: null };
  }

  /** Like the events of a seat, without the picks of co-op. */
  async *events(options: StreamOptions = {}): AsyncGenerator<LobbyEvent, void, undefined> {
    const { link, code, token } = this;
    const readToken = (call: CallOptions) => askToWatch(link, code, call);
    try {
      yield* this.follow({ token, readToken }, options, isEnd);
    } catch (error) {
      if (!options.signal?.aborted) throw error;
    }
  }
}

function askToWatch(link: Link, code: string, options?: CallOptions): Promise<string> {
  return readHubToken(link, { method: "POST", path: `${pathOf(code)}/spectate` }, options);
}

/** Requests a stream token, which arrives in a header. */
async function readHubToken(link: Link, call: Call, options?: CallOptions): Promise<string> {
  const { headers } = await send(link, { ...call, brings: "hubToken" }, options);
  return headers.get(hubTokenHeader) ?? "";
}

/** An access token this close to its expiry is renewed first. */
const renewMs = 60_000;

interface Session {
  access_token: string;
  reclaim_token?: string;
  expires_in: number;
  player: { id: number; name: string };
}

interface TakenSeat {
  lobby?: Lobby;
  player: SeatRef;
  player_token: string;
}

/** Client of an emberline service: identity, lobbies, and seats to resume. */
export class Emberline {
  private readonly link: Link;
  private readonly options: EmberlineOptions;
  private readonly store: GuestStore;
  private entering: Promise<Guest> | null = null;
  /** The most recent access token of this client, and its expiry by the monotonic clock. */
  private got = { token: "", until: 0 };

  constructor(options: EmberlineOptions = {}) {
    this.options = options;
    this.store = options.guest ?? memoryStore();
    this.link = {
      url: (options.url ?? "").replace(/\/+$/, ""),
      fetch: options.fetch ?? ((input, init) => fetch(input, init)),
      clock: options.clock ?? systemClock,
      request: {
        credentials: options.credentials ?? "omit",
        cache: options.cache ?? "no-store",
      },
      ports: null,
      owner: null,
    };
    if (options.followOwner !== false) this.link.ports = new WorkerPorts(this.link);
  }

  /** The guest of this client: the stored one, renewed by its reclaim token, or a new one. */
  async guest(options: CallOptions = {}): Promise<Guest> {
    options.signal?.throwIfAborted();
    const known = this.store.load();
    const { clock } = this.link;
    if (known && this.isGood(known)) return known;
    const deadlineMs = Math.max(callDeadlineMs, options.deadlineMs ?? 0);
    this.entering ??= this.enter(known, { deadlineMs }).finally(() => (this.entering = null));
    return waitFor(clock, this.entering, options);
  }

  /** Not retried, because the caller wants the current state. */
  async health({ deadlineMs = callDeadlineMs, signal }: CallOptions = {}): Promise<Health> {
    const call = { method: "GET", path: "/v1/health-check" } as const;
    const answer = await sendOnce(this.link, call, deadlineMs, signal);
    const body = bodyOf<Omit<Health, "version">>(answer);
    return { ...body, version: String(answer.version) };
  }

  async categories(options?: CallOptions): Promise<{ name: string; num_questions: number }[]> {
    const answer = await this.get("/v1/games/trivia/categories", options);
    return bodyOf<{ categories: { name: string; num_questions: number }[] }>(answer).categories;
  }

  /** Public lobbies that are waiting or being played, newest first. */
  async lobbies(options?: CallOptions): Promise<Lobby[]> {
    return bodyOf<{ lobbies: Lobby[] }>(await this.get(lobbiesPath, options)).lobbies;
  }

  async lobby(code: string, options?: CallOptions): Promise<Lobby> {
    return bodyOf<{ lobby: Lobby }>(await this.get(pathOf(lobbyCode(code)), options)).lobby;
  }

  /** Creates a lobby and takes the host's seat. */
  create(fields: NewLobby, options?: CallOptions): Promise<Seat> {
    return this.sit({ method: "POST", path: lobbiesPath, body: fields }, null, options);
  }

  /** Takes a seat in a waiting lobby; `text` is its code or a link to it, as in `lobbyCode`. */
  join(text: string, name: string, options?: CallOptions): Promise<Seat> {
    const code = lobbyCode(text);
    const call = { method: "POST", path: `${pathOf(code)}/join`, body: { name } } as const;
    return this.sit(call, code, options);
  }

  /** Resumes a seat; sends no request. */
  seat(key: SeatKey): Seat {
    return new Seat(this.link, key);
  }

  /** Watches a public lobby without a seat. */
  async spectate(text: string, options?: CallOptions): Promise<Spectator> {
    const code = lobbyCode(text);
    const spectator = new Spectator(this.link, code, await askToWatch(this.link, code, options));
    await spectator.read(options);
    return spectator;
  }

  /** The complete public list after every change; ends with the signal. */
  async *publicLobbies(options: StreamOptions = {}): AsyncGenerator<Lobby[], void, undefined> {
    const topic = `${this.options.topicBase ?? "/games/trivia"}/lobbies`;
    const source = { findTopic: () => Promise.resolve(topic), token: null, readToken: null };
    const stream = readTopic(this.link, source, options);
    for await (const { event, message } of stream)
      if (event === "lobbies.updated") yield (message as ListEvent).data.lobbies;
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
    const answer = await this.asCaller(options, (headers, left) => {
      const call = { method, path, headers, body, brings: "anything" } as const;
      if (method === "GET" && !once) return send(this.link, call, left);
      if (options.key !== undefined) return sendKeyed(this.link, call, left);
      return sendOnce(this.link, call, left.deadlineMs ?? callDeadlineMs, left.signal);
    });
    return bodyOf<T>(answer);
  }

  private get(path: string, options?: CallOptions): Promise<Answer> {
    return send(this.link, { method: "GET", path }, options);
  }

  private async sit(call: Call, code: string | null, options: CallOptions = {}): Promise<Seat> {
    // One key for both identities, so that a first attempt that arrived is recognized.
    const key = options.key ?? randomKey();
    const answer = await this.asCaller(options, (headers, left) =>
      sendKeyed(this.link, { ...call, headers }, { ...left, key }),
    );
    const { lobby, player, player_token: token } = bodyOf<TakenSeat>(answer);
    const seatKey = { code: lobby?.code ?? code ?? "", token, playerId: player.id };
    return new Seat(this.link, seatKey, lobby ?? null, answer.headers);
  }

  /** Runs a call with the own identity; retries once with a renewed token if the token is refused. */
  private async asCaller<T>(
    options: CallOptions,
    call: (headers: Record<string, string>, left: CallOptions) => Promise<T>,
  ): Promise<T> {
    const { clock } = this.link;
    const deadlineAt = clock.elapsed() + (options.deadlineMs ?? callDeadlineMs);
    const left = () => ({ ...options, deadlineMs: Math.max(0, deadlineAt - clock.elapsed()) });
    const callNow = async () => {
      const token = await this.accessToken(left());
      return call(token === null ? {} : { Authorization: `Bearer ${token}` }, left());
    };
    try {
      return await callNow();
    } catch (error) {
      if (!(error instanceof EmberlineError) || error.code !== "auth:token_invalid") throw error;
      const known = this.store.load();
      if (known) this.store.save({ ...known, expires_at_ms: 0 });
      return callNow();
    }
  }

  /**
   * A join with an expired token would take a seat without an account, so a changed clock must not hide the
   * expiry.
   */
  private isGood({ access_token: token, expires_at_ms: until, lifetime_ms: most }: Guest): boolean {
    const { clock } = this.link;
    const leftMs = until - clock.now();
    if (leftMs <= 0 || leftMs > (most ?? Infinity)) return false;
    return token !== this.got.token || clock.elapsed() < this.got.until;
  }

  private async accessToken(options: CallOptions): Promise<string | null> {
    if (this.options.accessToken) return this.options.accessToken();
    return (await this.guest(options)).access_token;
  }

  /** A guest whose reclaim token is refused is lost; a new guest takes its place. */
  private async enter(known: Guest | null, options?: CallOptions): Promise<Guest> {
    if (!known) return this.openGuest({}, options);
    try {
      return await this.openGuest({ reclaimToken: known.reclaim_token }, options);
    } catch (error) {
      if (!(error instanceof EmberlineError) || error.status !== 401) throw error;
      return this.openGuest({}, options);
    }
  }

  private async openGuest(body: { reclaimToken?: string }, options?: CallOptions): Promise<Guest> {
    const call = { method: "POST", path: "/v1/gateway/guest", body } as const;
    const session = bodyOf<Session>(await send(this.link, call, options));
    const { clock } = this.link;
    const lifetimeMs = session.expires_in * 1000 - renewMs;
    this.got = { token: session.access_token, until: clock.elapsed() + lifetimeMs };
    const guest = {
      player_id: session.player.id,
      name: session.player.name,
      access_token: session.access_token,
      expires_at_ms: clock.now() + lifetimeMs,
      lifetime_ms: lifetimeMs,
      reclaim_token: session.reclaim_token ?? body.reclaimToken ?? "",
    };
    this.store.save(guest);
    return guest;
  }
}

function memoryStore(): GuestStore {
  let kept: Guest | null = null;
  return { load: () => kept, save: (guest) => (kept = guest) };
}

/**
 * Whether the revealed answer matches the hash that was published with the question. Pass the hash as
 * received then. Null if it cannot be verified: without a hash, or on a page without https, where browsers
 * offer no cryptography.
 */
export async function verifyReveal(
  answerHash: string | null,
  question: Question,
  reveal: Reveal,
): Promise<boolean | null> {
  const { subtle } = globalThis.crypto;
  if (answerHash === null || reveal.answer_salt === null || !subtle) return null;
  const { correct_index } = reveal;
  const parts = [reveal.answer_salt, question.id, correct_index];
  const text = [...parts, question.payload.choices[correct_index]].join("\n");
  const digest = new Uint8Array(await subtle.digest("SHA-256", new TextEncoder().encode(text)));
  const hex = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex === answerHash;
}
