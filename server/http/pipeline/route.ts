import type { Static, TObject, TSchema } from "typebox";
import type { Config } from "../../platform/config/config.ts";
import type { ErrorCode, Violation } from "../../platform/errors.ts";
import type { Caller, OperatorCaller, SeatCaller } from "../auth/auth.ts";
import type { Deps } from "../../app/deps.ts";
import type { Once } from "./draft.ts";
import type { SegmentForms } from "./router.ts";
import type { StreamResponse } from "../uws/stream-response.ts";

/**
 * Who may call: `public` (tokens are not read), `optional`, `player` (guest or registered),
 * `registered`, `guest`; `seat` needs a lobby credential, `optional_seat` reads one (LOB-01, LOB-02).
 */
export type PublicLevel =
  "public" | "optional" | "player" | "registered" | "guest" | "seat" | "optional_seat";

/**
 * Levels of the operator listener, which the public one refuses to serve: `open` asks for nothing,
 * `local` for an operator unless the peer is this machine, the roles for at least that role.
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

/** A form with one file; whatever else it carries is left alone (AV-04). */
export interface FileForm {
  /** Name of the form field. */
  field: string;
  /** Bytes of the file; what frames it comes on top. */
  maxBytes: (config: Config) => number;
}

/** One file of a form. What its sender called it is not known: nobody may use it (S20). */
export interface FormFile {
  field: string;
  bytes: Uint8Array;
}

/** What a handler may read of the request besides its validated parts. */
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
  /** Raw query string, without the question mark. */
  query: string;
  /** As it came; for routes that read another body than JSON themselves. */
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

export type Reply =
  | { kind: "json"; status: number; body: unknown; headers: Headers; pagination?: Pagination }
  /** `json` is the finished text of `body`; it is spliced into the envelope unparsed. */
  | {
      kind: "encoded";
      status: number;
      json: string | Uint8Array;
      /** A digest in quotes, as it is written; null to have one made. */
      etag: string | null;
      headers: Headers;
    }
  | { kind: "empty"; status: number; headers: Headers }
  | { kind: "bytes"; status: number; type: string; bytes: string | Uint8Array; headers: Headers }
  | { kind: "redirect"; status: 302; location: string; headers: Headers }
  /** The pipeline hands the response over; `open` runs after status and headers are written. */
  | {
      kind: "stream";
      status: 200;
      headers: Headers;
      open: (response: StreamResponse) => void;
      abandon: () => void;
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

/** A JSON answer whose body text already exists (a cached body, an actor's answer). */
export function encodedReply<S extends number>(
  status: S,
  json: string | Uint8Array,
  options: { headers?: Headers; etag?: string } = {},
): Reply & { status: S } {
  return {
    kind: "encoded",
    status,
    json,
    etag: options.etag ?? null,
    headers: options.headers ?? [],
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

/** `open` gets the connection; `abandon` is called instead when its client has left meanwhile. */
export function streamReply(
  open: (response: StreamResponse) => void,
  headers: Headers = [],
  abandon: () => void = () => undefined,
) {
  return { kind: "stream", status: 200, headers, open, abandon } as Reply & { status: 200 };
}

export interface HandlerInput<A extends AuthLevel, P, Q, B> {
  params: P;
  query: Q;
  body: B;
  /** Of a route that takes a form, in their order. */
  files: readonly FormFile[];
  caller: CallerOf<A>;
  /** This request's own dependencies: `deps.em` is a fork of its own. */
  deps: Deps;
  request: RequestInfo;
  /** For a route that honours `Idempotency-Key`. */
  once: Once;
}

type StaticOr<T, Fallback> = T extends TSchema ? Static<T> : Fallback;

/** Who asks by a name, from an address that has tried too many. */
export interface GuessCheck {
  playerId: number | null;
  params: Readonly<Record<string, unknown>>;
  deps: Deps;
}

/** What may be guessed at a route, and who need not guess. */
export interface Guessable {
  /** Routes of one kind share their counters. */
  kind: string;
  /** What a name that does not exist answers. */
  misses: readonly ErrorCode[];
  /**
   * Whether the name is no secret to whoever asks: it is public, or the player belongs to what it names. Who holds
   * the token of a seat in the very lobby is not asked about.
   */
  isKnownTo?: (given: GuessCheck) => Promise<boolean>;
}

export interface RouteRecord<
  A extends AuthLevel = AuthLevel,
  P extends TObject | undefined = TObject | undefined,
  Q extends TObject | undefined = TObject | undefined,
  B extends TObject | undefined = TObject | undefined,
  R extends Record<number, ResponseSpec> = Record<number, ResponseSpec>,
> {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** `{name}` marks a parameter: one segment, decoded once. */
  path: string;
  summary: string;
  tag: string;
  auth: A;
  /** Where the rule comes from: a section of the specification or a decision id. */
  source: string;
  rateLimit?: RateLimit;
  /**
   * Names the secret of at least 128 bits that a request carries, when it is right; else null. Where the limit of
   * an address is exceeded such a request is counted by its secret instead: wrong ones that anybody, or any page,
   * sends from there never keep out who has the right one (S48).
   */
  heldSecret?: (
    given: Pick<
      HandlerInput<A, StaticOr<P, object>, StaticOr<Q, object>, StaticOr<B, object>>,
      "query" | "body" | "deps" | "request"
    >,
  ) => Promise<string | null> | string | null;
  /** Lobby commands are counted per seat by the lobby's actor instead (GW-12). */
  unlimited?: boolean;
  /** Refusals of such a route to callers its lobby does not count; they count as requests of other routes do (GW-12). */
  countedRefusals?: readonly ErrorCode[];
  /** The route takes a name that can be guessed, such as the code of a lobby: misses are counted per address (GW-12). */
  guessable?: Guessable;
  params?: P;
  /** Form of a path parameter: such segments lead here even where another route takes any. */
  segments?: SegmentForms;
  /** Segments that cannot be decoded reach the handler as they stand: the route answers everything itself. */
  loosePath?: boolean;
  query?: Q;
  /** Values that cannot be decoded reach the handler as they are: the route answers everything itself. */
  looseQuery?: boolean;
  /** Query parameters the handler reads itself; for the interface document. */
  ownQuery?: TObject;
  body?: B;
  /** What is wrong with the fields of a body together, or by the settings: asked of any body, sound or not (HTTP-06). */
  together?: (body: Readonly<Record<string, unknown>>, config: Config) => Violation[];
  /** Takes `multipart/form-data` instead of JSON. */
  form?: FileForm;
  /** Fields of a form the handler reads itself; for the interface document. */
  urlForm?: TObject;
  /** Status of field problems in the body: 422 unless the specification says 400 (HTTP-05). */
  invalid?: { status: 400; code: ErrorCode };
  /** What a path parameter of the wrong form answers (HTTP-05); default `route:not_found`. */
  unknown?: ErrorCode;
  /** Cache-Control of a 200; such answers carry an ETag and honour If-None-Match (HTTP-13). */
  cache?: string;
  /** Cookie that gives authority by itself: with it, the page's origin is checked (HTTP-11). */
  cookieAuthority?: string;
  /**
   * Sets or clears a cookie that signs somebody in: no other site may have it do so (S45). `by-page` is asked
   * by scripts; `by-visit` is an address that other sites lead to, which nothing but a visit may use.
   */
  setsCookie?: "by-page" | "by-visit";
  /** Honours `Idempotency-Key`: the first success is repeated for 24 hours (HTTP-15). */
  idempotent?: boolean;
  /** The lobby itself honours `Idempotency-Key`, per seat (LOB-28); for the interface document. */
  idempotentSeat?: boolean;
  /** Milliseconds the request may take; 10 s when absent. */
  deadlineMs?: number;
  /** Any origin may read it when CORS_PUBLIC_DATA is set (HTTP-10). */
  publicData?: boolean;
  /** Any origin may call it, without cookies: for programs of others that run in browsers (OA-06). */
  anyOrigin?: boolean;
  /** A page that other sites open in a window of theirs, to be told by it how it went (OA-06). */
  isPopup?: boolean;
  /** The envelope of a 200 has `pagination` beside `body` (ENV-05). */
  isPaged?: boolean;
  /** Media type a 200 has instead of JSON when the client asks for it by a parameter. */
  otherForm?: string;
  responses: R;
  errors: readonly ErrorCode[];
  handler: (
    input: HandlerInput<
      A,
      StaticOr<P, Record<string, never>>,
      StaticOr<Q, Record<string, never>>,
      StaticOr<B, Record<string, never>>
    >,
  ) => Promise<ReplyOf<R>> | ReplyOf<R>;
}

/**
 * A route whatever its types, as the tables hold it. Handlers of a mixed table have no common input; the
 * pipeline alone calls them, with what it validated by the same record.
 */
export type AnyRoute = Omit<RouteRecord, "handler" | "heldSecret"> & {
  heldSecret?: (given: never) => Promise<string | null> | string | null;
  handler: (input: never) => Promise<Reply> | Reply;
};

/** True for a route of the operator listener (OPS-01). */
export function isOperatorRoute({ auth }: Pick<AnyRoute, "auth">): boolean {
  return operatorLevels.some((level) => level === auth);
}

/** Declares an endpoint; everything else derives from the record (ARCHITECTURE: an endpoint is declared once). */
export function defineRoute<
  const A extends AuthLevel,
  const R extends Record<number, ResponseSpec>,
  P extends TObject | undefined = undefined,
  Q extends TObject | undefined = undefined,
  B extends TObject | undefined = undefined,
>(route: RouteRecord<A, P, Q, B, R>): AnyRoute {
  return route as unknown as AnyRoute;
}
