import type { Static, TObject, TSchema } from "typebox";
import type { Config } from "../../platform/config/config.ts";
import type { ErrorCode, Violation } from "../../platform/errors.ts";
import type { Caller, OperatorCaller, SeatCaller } from "../auth/auth.ts";
import type { MemoizeForKey } from "./idempotent-input.ts";
import type { SegmentForms } from "./router.ts";
import type { StreamResponse } from "../uws/stream-response.ts";

/**
 * Auth level: `public` (tokens are not read), `optional`, `player` (guest or registered; each transaction of `deps.em`
 * refuses a guest who was upgraded meanwhile, S8), `registered`, `guest`; `seat` needs the token of a seat or a
 * login, `optional_seat` reads them (LOB-01, LOB-02).
 */
export type PublicLevel =
  "public" | "optional" | "player" | "registered" | "guest" | "seat" | "optional_seat";

/**
 * Levels of the operator listener; the public listener refuses such routes. `open` requires no credential, `local`
 * requires an operator unless the peer is this machine, a role requires at least that role.
 */
export const operatorLevels = ["open", "local", "viewer", "operator", "admin"] as const;
export type OperatorLevel = (typeof operatorLevels)[number];

export type AuthLevel = PublicLevel | OperatorLevel;

export type CallerOf<A extends AuthLevel> = A extends "public" | "open"
  ? null
  : A extends "local"
    ? OperatorCaller | null
    : A extends OperatorLevel
      ? OperatorCaller
      : CallerOfPlayer<A>;

type CallerOfPlayer<A extends AuthLevel> = A extends "public"
  ? null
  : A extends "optional"
    ? Caller | null
    : A extends "seat"
      ? SeatCaller
      : A extends "optional_seat"
        ? SeatCaller | null
        : Caller;

/** Responses that are not JSON in an envelope. */
export type Media = { kind: "media"; type: string };
export type Redirect = { kind: "redirect" };
/** Server-sent events; `message` is the JSON of their data lines. */
export type Stream = { kind: "stream"; message: TSchema };
export const media = (type: string): Media => ({ kind: "media", type });
export const redirect: Redirect = { kind: "redirect" };
export const stream = (message: TSchema): Stream => ({ kind: "stream", message });

/** A schema is wrapped in the envelope; `null` is no payload (204: no bytes at all; ENV-01). */
export type ResponseSpec = TSchema | Media | Redirect | Stream | null;

export interface RateLimit {
  /** Requests per window; a function where an operator may set it (GW-01). */
  max: number | ((config: Config) => number);
  /** Seconds; fixed windows opened by the first request (GW-11). */
  window: number;
  per?: "ip" | "account";
}

/** A form with one file; other fields are ignored (AV-04). */
export interface FileForm {
  /** Name of the form field. */
  field: string;
  /** Bytes of the file, without the framing of the form. */
  maxBytes: (config: Config) => number;
}

/** One file of a form, without its file name, which no code may use (S20). */
export interface FormFile {
  field: string;
  bytes: Uint8Array;
}

/** The raw request, for a handler that needs more than the validated parts. */
export interface RequestInfo {
  id: string;
  method: string;
  /** As requested, without the query string. */
  path: string;
  ip: string;
  headers: Readonly<Record<string, string>>;
  cookies: Readonly<Record<string, string>>;
  /** True when the client reached us, or our trusted proxy, over https. */
  isSecure: boolean;
  /** Dedicated port of this worker if the request arrived there; null on the port that all workers share. */
  workerPort: number | null;
  /** Raw query string, without the question mark. */
  query: string;
  /** Raw body, for a route that parses it itself. */
  body: Uint8Array | null;
}

export type Headers = [name: string, value: string][];

/** Place of a page in its list, as the response envelope says it. */
export interface Pagination {
  page: number;
  limit: number;
  total: number;
  has_more: boolean;
}

export interface OpenedRoom {
  kind: string;
  code: string;
}

export type Reply =
  | { kind: "json"; status: number; body: unknown; headers: Headers; pagination?: Pagination }
  /** `json` is the finished text of `body`; it is spliced into the envelope unparsed. */
  | {
      kind: "encoded";
      status: number;
      json: string | Uint8Array;
      /** A quoted digest; null computes one. */
      etag: string | null;
      headers: Headers;
      /** The room that the request opened: the response names its owner's port, a replayed one the present owner's. */
      room?: OpenedRoom | undefined;
    }
  | { kind: "empty"; status: number; headers: Headers }
  | { kind: "bytes"; status: number; type: string; bytes: string | Uint8Array; headers: Headers }
  | { kind: "redirect"; status: 302 | 303; location: string; headers: Headers }
  /** The pipeline hands the response over: `open` runs after status and headers are written. */
  | {
      kind: "stream";
      status: 200;
      headers: Headers;
      open: (response: StreamResponse) => void;
      release: () => void;
    };

type StatusOf<R> = Extract<keyof R, number>;
type BodyOf<S> = S extends TSchema ? Static<S> : never;

/** What a handler of these `responses` may return; another status or body does not compile. */
export type ReplyOf<R extends Record<number, ResponseSpec>> = {
  [S in StatusOf<R>]: TypedReply<S, R[S]>;
}[StatusOf<R>];

declare const bodyType: unique symbol;
export type TypedReply<S extends number, Spec> = Reply & {
  status: S;
  readonly [bodyType]?: Spec extends TSchema ? BodyOf<Spec> : null;
};

/** A JSON answer. Without `body`: the envelope without `body`, or no bytes for 204. */
export function reply<S extends number>(
  status: S,
  body?: undefined,
  headers?: Headers,
): Reply & { status: S; readonly [bodyType]?: null };
export function reply<S extends number, B>(
  status: S,
  body: B,
  headers?: Headers,
): Reply & { status: S; readonly [bodyType]?: B };
export function reply(status: number, body?: unknown, headers: Headers = []): Reply {
  return body === undefined
    ? { kind: "empty", status, headers }
    : { kind: "json", status, body, headers };
}

/** A JSON answer of one page of a list; of the operator listener alone (ENV-05). */
export function pagedReply<S extends number, B>(
  status: S,
  body: B,
  pagination: Pagination,
): Reply & { status: S; readonly [bodyType]?: B } {
  return { kind: "json", status, body, headers: [], pagination };
}

/** A JSON response with an encoded body (a cached body, an actor's reply). */
export function encodedReply<S extends number>(
  status: S,
  json: string | Uint8Array,
  options: { headers?: Headers; etag?: string; room?: OpenedRoom } = {},
): Reply & { status: S } {
  return {
    kind: "encoded",
    status,
    json,
    etag: options.etag ?? null,
    headers: options.headers ?? [],
    room: options.room,
  } as Reply & { status: S };
}

export function bytesReply<S extends number>(
  status: S,
  type: string,
  bytes: string | Uint8Array,
  headers: Headers = [],
) {
  return { kind: "bytes", status, type, bytes, headers } as Reply & { status: S };
}

export function redirectReply(location: string, headers: Headers = []) {
  return { kind: "redirect", status: 302, location, headers } as Reply & { status: 302 };
}

/** To a page after a form was sent: the browser gets it with GET. */
export function seeOtherReply(location: string, headers: Headers = []) {
  return { kind: "redirect", status: 303, location, headers } as Reply & { status: 303 };
}

/** `open` gets the connection; `release` is called instead when the client has disconnected. */
export function streamReply(
  open: (response: StreamResponse) => void,
  headers: Headers = [],
  release: () => void = () => undefined,
) {
  return { kind: "stream", status: 200, headers, open, release } as Reply & { status: 200 };
}

export interface HandlerInput<D, A extends AuthLevel, P, Q, B, I = unknown> {
  params: P;
  query: Q;
  body: B;
  /** Of a route that takes a form, in their order. */
  files: readonly FormFile[];
  caller: CallerOf<A>;
  /** This request's own dependencies: `deps.em` is a fork of its own. */
  deps: D;
  request: RequestInfo;
  /** For a route that honours `Idempotency-Key`. */
  memoizeForKey: MemoizeForKey;
  /** What `draw` of the route returned in the first attempt under the key. */
  drawn: I;
}

/** A finished HTML document. */
export interface Page {
  readonly markup: string;
}

/** What a page for people shows: the body that a program would get, and what was asked by whom. */
export interface PageView<A extends AuthLevel, P, Q, B, Body> {
  body: Body;
  pagination: Pagination | null;
  caller: CallerOf<A>;
  params: P;
  query: Q;
  /** The body of the request. */
  input: B;
}

type StaticOr<T, Fallback> = T extends TSchema ? Static<T> : Fallback;

/** Caller of a guessable name, from an address over its guess limit. */
export interface GuessCheck<D> {
  playerId: number | null;
  params: Readonly<Record<string, unknown>>;
  deps: D;
}

/** Guess protection of a route: what counts as a miss, and which callers are exempt. */
export interface Guessable<D> {
  /** Routes of one kind share their counters. */
  kind: string;
  /** Error codes of a name that does not exist. */
  misses: readonly ErrorCode[];
  /**
   * True when the caller may know the name: it is public, or the player belongs to the named thing. Not called for
   * a caller with a seat token of the lobby.
   */
  isKnownTo?: (given: GuessCheck<D>) => Promise<boolean>;
}

/** What few routes need, each of these one or two. */
export interface RareTraits<D> {
  /** No rate limit here: the lobby's actor counts commands per seat (GW-12). */
  unlimited?: boolean;
  /** Error codes of an unlimited route that count against the caller's rate limit (GW-12). */
  countedRefusals?: readonly ErrorCode[];
  /** Form of a path parameter: a matching segment selects this route before one that takes any segment. */
  segments?: SegmentForms;
  /** Passes segments that cannot be decoded to the handler unchanged. */
  lenientPath?: boolean;
  /** Query parameters the handler reads itself; for the OpenAPI document. */
  ownQuery?: TObject;
  /** Takes requests with a URL-encoded form in place of this route, which has the same method and path. */
  formRoute?: Route<D>;
  /** Cookie that is a credential by itself: its use requires an origin check (HTTP-11). */
  cookieAuthority?: string;
  /** The lobby handles `Idempotency-Key` per seat (LOB-28); for the OpenAPI document. */
  idempotentSeat?: boolean;
  /** Responses contain the owner's port although the path has no `room`; for the OpenAPI document. */
  namesOwner?: boolean;
  /** Asked every few seconds by machines: neither a log line nor a count. */
  isProbe?: boolean;
  /** A page that other sites open as a popup and that reports its outcome to them (OA-06). */
  isPopup?: boolean;
  /** Media type a 200 has instead of JSON when the client asks for it by a parameter. */
  otherForm?: string;
}

export interface RouteRecord<
  D = unknown,
  A extends AuthLevel = AuthLevel,
  P extends TObject | undefined = TObject | undefined,
  Q extends TObject | undefined = TObject | undefined,
  B extends TObject | undefined = TObject | undefined,
  R extends Record<number, ResponseSpec> = Record<number, ResponseSpec>,
  I = undefined,
> {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** `{name}` marks a parameter: one segment, decoded once. */
  path: string;
  summary: string;
  tag: string;
  auth: A;
  /** Where the rule comes from: a section of the specification, decision ids, or both: `"document 1, Users; USR-05"`. */
  source: string;
  rateLimit?: RateLimit;
  /**
   * Returns the valid secret of at least 128 bits in the request, else null. When the limit of an address is
   * exceeded, such a request is counted by its secret instead: wrong secrets sent from the same address never lock
   * out the holder of the right one (S48).
   */
  heldSecret?: (
    given: Pick<
      HandlerInput<D, A, StaticOr<P, object>, StaticOr<Q, object>, StaticOr<B, object>>,
      "query" | "body" | "deps" | "request"
    >,
  ) => Promise<string | null> | string | null;
  /** The route takes a guessable name, such as a lobby code: misses are counted per address (GW-12). */
  guessable?: Guessable<D>;
  /** Kind of the room whose code is the parameter `{code}`; the levels `seat` and `optional_seat` need it. */
  room?: string;
  params?: P;
  query?: Q;
  /** Passes query values that cannot be decoded to the handler unchanged. */
  lenientQuery?: boolean;
  body?: B;
  /** Checks fields of a body against each other and the configuration; runs for invalid bodies too (HTTP-06). */
  crossFieldChecks?: (body: Readonly<Record<string, unknown>>, config: Config) => Violation[];
  /** Takes `multipart/form-data` instead of JSON. */
  form?: FileForm;
  /** Fields of a form the handler reads itself; for the OpenAPI document. */
  urlForm?: TObject;
  /** Status of field problems in the body: 422 unless the specification says 400 (HTTP-05). */
  invalid?: { status: 400; code: ErrorCode };
  /** Error code for a path parameter of the wrong form (HTTP-05); default `route:not_found`. */
  notFoundCode?: ErrorCode;
  /** Cache-Control of a 200; such answers carry an ETag and honour If-None-Match (HTTP-13). */
  cache?: string;
  /**
   * Sets or clears a session cookie, which no other site may trigger (S45). `by-page` is called by scripts;
   * `by-visit` is the target of links on other sites, and only a top-level navigation may use it.
   */
  setsCookie?: "by-page" | "by-visit";
  /** Supports `Idempotency-Key`: the first success is replayed for 24 hours (HTTP-15). */
  idempotent?: boolean;
  /**
   * Draws random input of an idempotent route, such as an id: every attempt under a key gets the same value, stored as
   * JSON. A value that is returned at once needs no round trip of its own, unlike `memoizeForKey`, which is for input
   * that depends on what the handler has read. It is also called for repeats, which drop it.
   */
  draw?: (deps: D) => I | Promise<I>;
  /** Milliseconds the request may take; 10 s when absent. */
  deadlineMs?: number;
  /** Any origin may read it when CORS_PUBLIC_DATA is set (HTTP-10). */
  publicData?: boolean;
  /** Any origin may call it, without cookies: for third-party browser programs (OA-06). */
  anyOrigin?: boolean;
  /**
   * The answer as HTML, for a request whose `Accept` names text/html. It is rendered from the body of the JSON answer,
   * so that both show the same.
   */
  page?: (view: ViewOf<A, P, Q, B, R>) => Page;
  /** What a page still shows while a part that it needs is away, from the parts that respond. */
  remainder?: (
    given: Pick<
      HandlerInput<D, A, StaticOr<P, object>, StaticOr<Q, object>, undefined>,
      "params" | "query" | "caller" | "deps"
    >,
  ) => Promise<Page>;
  /**
   * Pages send this request as a form, whose fields are those of the body. A browser is then sent to this address, or
   * gets the `page` if it is null; other callers get the JSON answer.
   */
  pageAfter?: (view: ViewOf<A, P, Q, B, R>) => string | null;
  /** The envelope of a 200 has `pagination` beside `body` (ENV-05). */
  isPaged?: boolean;
  rare?: RareTraits<D>;
  responses: R;
  errors: readonly ErrorCode[];
  handler: (
    input: HandlerInput<
      D,
      A,
      StaticOr<P, Record<string, never>>,
      StaticOr<Q, Record<string, never>>,
      StaticOr<B, Record<string, never>>,
      I
    >,
  ) => Promise<ReplyOf<R>> | ReplyOf<R>;
}

type ViewOf<
  A extends AuthLevel,
  P extends TObject | undefined,
  Q extends TObject | undefined,
  B extends TObject | undefined,
  R extends Record<number, ResponseSpec>,
> = PageView<
  A,
  StaticOr<P, Record<string, never>>,
  StaticOr<Q, Record<string, never>>,
  StaticOr<B, Record<string, never>>,
  BodyOf<R[StatusOf<R>]>
>;

/** Input of a handler whose own types a table does not know; the pipeline validates it by the same record. */
type TableView = PageView<never, never, never, never, never>;
type TableInput<D> = HandlerInput<D, never, never, never, never, never>;

/**
 * A route as tables hold it. `D` is what its handler takes from the dependencies: a table for the dependencies of a
 * process accepts only routes that need no more.
 */
export interface Route<D> extends Omit<
  RouteRecord<D>,
  "handler" | "heldSecret" | "draw" | "page" | "pageAfter" | "remainder"
> {
  page?: (view: TableView) => Page;
  pageAfter?: (view: TableView) => string | null;
  remainder?: (given: Pick<TableInput<D>, "params" | "query" | "caller" | "deps">) => Promise<Page>;
  draw?: (deps: D) => unknown;
  heldSecret?: (
    given: Pick<TableInput<D>, "query" | "body" | "deps" | "request">,
  ) => Promise<string | null> | string | null;
  handler: (input: TableInput<D>) => Promise<Reply> | Reply;
}

/** A route of any dependencies, for code that reads its record. */
export type AnyRoute = Route<never>;

/** True for a route of the operator listener (OPS-01). */
export function isOperatorRoute({ auth }: Pick<AnyRoute, "auth">): boolean {
  return operatorLevels.some((level) => level === auth);
}

/** Declares an endpoint; validation, limits, answers and the OpenAPI document derive from this record. */
export type DefineRoute<D> = <
  const A extends AuthLevel,
  const R extends Record<number, ResponseSpec>,
  P extends TObject | undefined = undefined,
  Q extends TObject | undefined = undefined,
  B extends TObject | undefined = undefined,
  I = undefined,
>(
  route: RouteRecord<D, A, P, Q, B, R, I>,
) => Route<D>;

/** The `defineRoute` of a feature whose handlers take `D` from the dependencies. */
export function routesWith<D>(): DefineRoute<D> {
  return (route) => route as unknown as Route<D>;
}

/** For a route whose handler takes none of them. */
export const defineRoute = routesWith<unknown>();
