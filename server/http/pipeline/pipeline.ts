import { hash } from "node:crypto";
import { AppError } from "../../platform/errors.ts";
import { roomCodeOf } from "../../platform/text/room-codes.ts";
import { isUrlForm, parseJsonObject, requireJson } from "./body.ts";
import { readPageForm } from "./page-form.ts";
import { namesHtml, replyToBrowser, type BrowserInput } from "./browser-reply.ts";
import { withoutMemo } from "./idempotent-input.ts";
import { createEntry, type RouteEntry } from "./entry.ts";
import { EnvelopeWriter } from "../replies/envelope.ts";
import type { RequestContext } from "./request-context.ts";
import { toAppError, unavailable } from "./failures.ts";
import { takeFiles, requireForm } from "./form.ts";
import { Idempotency } from "./idempotency.ts";
import type { Listener } from "./listener.ts";
import type {
  WithClock,
  WithConfig,
  WithFaults,
  WithMetrics,
  WithRedis,
} from "../../platform/capabilities.ts";
import type { Tracer, WithTracer } from "../../platform/tracing/tracer.ts";
import { RateLimiter, type LimitState, type RouteLimit } from "../limits/rate-limit.ts";
import { countedAddress, countedCaller, RefusalLimiter } from "../limits/refusal-limit.ts";
import type { RequestRecorder } from "./request-record.ts";
import { spanOf } from "./request-span.ts";
import { Responder } from "../replies/respond.ts";
import type { AnyRoute, AuthLevel, FormFile, Reply } from "./route.ts";
import { Router } from "./router.ts";

/** Request deadline, from its headers to its response. */
export const requestDeadlineMs = 10_000;
/** Bytes of path and query (HTTP-04). */
export const maxTargetBytes = 3_072;

type PipelineDeps = WithConfig & WithClock & WithFaults & WithMetrics & WithRedis & WithTracer;

/** Levels that require no credential. */
const openLevels: ReadonlySet<AuthLevel> = new Set(["public", "optional", "optional_seat"]);
const noFiles: readonly FormFile[] = Object.freeze([]);
const nothing: Readonly<Record<string, never>> = Object.freeze({});

/**
 * The steps every request takes, in the order of HTTP-17: route, method, size and media type,
 * credential, level, rate limit, fields, handler.
 */
export class Pipeline {
  readonly #router = new Router<RouteEntry>(({ route }) => route.rare?.lenientPath === true);
  readonly #listener: Listener;
  readonly #limiter: RateLimiter;
  readonly #refusals: RefusalLimiter;
  readonly #guesses: RefusalLimiter;
  readonly #idempotency: Idempotency;
  readonly #responder: Responder;
  readonly #recorder: RequestRecorder;
  readonly #tracer: Tracer | null;

  constructor(
    { config, clock, metrics, redis, faults, tracer }: PipelineDeps,
    routes: readonly AnyRoute[],
    recorder: RequestRecorder,
    listener: Listener,
  ) {
    this.#listener = listener;
    this.#limiter = new RateLimiter({ redis, clock, faults });
    this.#refusals = new RefusalLimiter(this.#limiter, countedCaller);
    this.#guesses = new RefusalLimiter(this.#limiter, countedAddress);
    this.#idempotency = new Idempotency({ redis, faults });
    this.#responder = new Responder(new EnvelopeWriter(config, clock), config, listener);
    this.#recorder = recorder;
    this.#tracer = tracer;
    const { safetyOf } = listener;
    for (const route of routes) this.#addRoute(createEntry(route, config, metrics, safetyOf));
  }

  /** Registers the route, and HEAD for a GET that is not an endless stream (HTTP-02). */
  #addRoute(entry: RouteEntry): void {
    const { method, path, rare } = entry.route;
    const segments = rare?.segments;
    this.#router.add(method, path, entry, segments);
    if (method === "GET" && !entry.isStream) this.#router.add("HEAD", path, entry, segments);
  }

  /** Matches the route before the body is read, since the route sets the size limit of the body. */
  matchRoute(ctx: RequestContext): void {
    try {
      if (ctx.path.length + ctx.query.length + 1 > maxTargetBytes)
        throw new AppError("request:uri_too_long");
      const match = this.#router.match(ctx.method, ctx.path);
      if (match === null) throw new AppError("route:not_found");
      ctx.match = match;
      const forForm = match.entry?.forForm ?? null;
      ctx.entry = forForm !== null && isUrlForm(ctx.headers) ? forForm : match.entry;
      ctx.paramValues = match.params;
      if (match.entry !== null) return;
      ctx.allow = [...match.allow, "OPTIONS"].join(", ");
      if (ctx.method !== "OPTIONS")
        throw new AppError("route:method_not_allowed", { headers: [["Allow", ctx.allow]] });
    } catch (error) {
      ctx.refusal = toAppError(error);
    }
  }

  /** Authorizes a form before its large body is read (S18): the account and address of the sender, or the refusal. */
  previewForm(ctx: RequestContext, entry: RouteEntry): readonly string[] | AppError {
    try {
      return this.#listener.authorizer.previewForm(ctx, entry);
    } catch (error) {
      return toAppError(error);
    }
  }

  /** Processes the request after its body was read, and sends the response. */
  run(ctx: RequestContext): void {
    if (this.#tracer !== null) ctx.span = spanOf(ctx, this.#tracer);
    ctx.deadline = setTimeout(
      () => void this.fail(ctx, unavailable(new Error("deadline passed"))),
      ctx.entry?.route.deadlineMs ?? requestDeadlineMs,
    ).unref();
    this.#answer(ctx).catch((error: unknown) => this.fail(ctx, error));
  }

  async #answer(ctx: RequestContext): Promise<void> {
    if (ctx.refusal === null && ctx.method === "OPTIONS") return this.#answerOptions(ctx);
    const entry = ctx.entry;
    if (entry === null) throw ctx.refusal ?? new AppError("route:not_found");
    const early = ctx.refusal ?? this.#mediaProblem(ctx, entry);
    if (early !== null) return this.#refuseEarly(ctx, entry, early);
    const decided = this.#listener.authorizer.authorize(ctx, entry);
    if (decided instanceof Promise || needsAddress(ctx, entry)) void ctx.address;
    const problem = decided instanceof Promise ? await decided : decided;
    if (ctx.isClosed) return;
    if (problem !== null) return this.#refuseEarly(ctx, entry, problem);
    if (entry.limit !== null) await this.#count(ctx, entry, entry.limit);
    const refused = this.#refusals.find(entry.refusalLimit, ctx);
    if (refused !== null) throw this.#overLimit(ctx, refused);
    const guessed = this.#guesses.find(entry.guessLimit, ctx);
    if (guessed !== null && !(await this.#needNotGuess(ctx, entry)))
      throw this.#overLimit(ctx, guessed);
    if (ctx.isClosed) return;
    let reply: Reply;
    try {
      reply = await this.#handle(ctx, entry);
    } catch (error) {
      throw await this.#countRefusal(ctx, entry, error);
    }
    this.#finish(ctx, reply);
  }

  /** Sends the refusal for `error`. */
  async fail(ctx: RequestContext, error: unknown): Promise<void> {
    if (ctx.isClosed) return;
    // For its log line.
    void ctx.address;
    this.clearDeadline(ctx);
    const refusal = toAppError(error);
    ctx.refusal = refusal;
    const { pages } = this.#listener;
    const page = pages === null ? null : await pages.refusal(ctx, refusal);
    if (ctx.isClosed) return;
    const status = page?.status ?? refusal.status;
    if (status >= 500) this.#recorder.recordError(ctx, refusal.detail.cause ?? refusal, status);
    this.#complete(
      ctx,
      page === null ? this.#responder.sendError(ctx, refusal) : this.#responder.send(ctx, page),
    );
  }

  #answerOptions(ctx: RequestContext): void {
    // For its log line.
    void ctx.address;
    const wanted = ctx.headers["access-control-request-method"] ?? "GET";
    const match = this.#router.match(wanted, ctx.path);
    const isForAll = this.#listener.cors.isForAll(match?.entry?.route);
    this.#complete(ctx, this.#responder.sendPreflight(ctx, ctx.allow, isForAll));
  }

  #mediaProblem(ctx: RequestContext, entry: RouteEntry): AppError | null {
    try {
      if (!ctx.body?.length) return null;
      if (entry.readBody !== null && !isPageForm(ctx, entry)) requireJson(ctx.headers);
      if (entry.route.form) requireForm(ctx.headers);
      return null;
    } catch (error) {
      return toAppError(error);
    }
  }

  /** Refuses before the rate limit is checked; on routes without a required credential it counts too (HTTP-17). */
  async #refuseEarly(ctx: RequestContext, entry: RouteEntry, problem: AppError): Promise<void> {
    const { limit, route } = entry;
    if (limit !== null && openLevels.has(route.auth))
      ctx.limit = await this.#limiter.count(limit, ctx, ctx.playerId ?? ctx.keyOwner);
    throw problem;
  }

  async #count(ctx: RequestContext, entry: RouteEntry, limit: RouteLimit): Promise<void> {
    const state = await this.#limiter.count(limit, ctx, ctx.playerId ?? ctx.keyOwner);
    const own = state.isExceeded ? await this.#countSecret(ctx, entry, limit) : null;
    ctx.limit = own ?? state;
    if (ctx.limit.isExceeded) throw this.#overLimit(ctx, ctx.limit);
  }

  /** Limit state of the valid secret of a request, counted apart from its address; null without a secret. */
  async #countSecret(
    ctx: RequestContext,
    entry: RouteEntry,
    limit: RouteLimit,
  ): Promise<LimitState | null> {
    const { route, readQuery, readBody } = entry;
    if (route.heldSecret === undefined || ctx.isClosed) return null;
    try {
      const query = readQuery === null ? nothing : readQuery(ctx.query);
      const body = readBody === null ? nothing : readBody(parseJsonObject(ctx.body));
      const deps = this.#listener.depsOf(ctx);
      const secret = await route.heldSecret({ query, body, deps, request: ctx } as never);
      if (secret === null) return null;
      return await this.#limiter.count(
        limit,
        `secret:${hash("sha256", secret, "base64url")}`,
        null,
      );
    } catch {
      // Invalid fields, or an unavailable store: no secret.
      return null;
    }
  }

  #overLimit(ctx: RequestContext, state: LimitState): AppError {
    ctx.limit = state;
    this.#recorder.recordLimited(ctx);
    return new AppError("rate_limit:exceeded", { params: { retry_after: state.reset } });
  }

  /** Counts the refusal thrown by a handler; returns it, or the refusal of the limit it exceeded. */
  async #countRefusal(ctx: RequestContext, entry: RouteEntry, error: unknown): Promise<unknown> {
    const { refusalLimit, guessLimit, route } = entry;
    const { code } = toAppError(error);
    const isCounted = route.rare?.countedRefusals?.includes(code);
    const isMiss = route.guessable?.misses.includes(code) && this.#isGuess(ctx, entry);
    const states = await Promise.all([
      isMiss && guessLimit !== null ? this.#guesses.count(guessLimit, ctx) : null,
      isCounted && refusalLimit !== null ? this.#refusals.count(refusalLimit, ctx) : null,
    ]);
    const exceeded = states.find((state) => state?.isExceeded);
    return exceeded ? this.#overLimit(ctx, exceeded) : error;
  }

  /** True for a caller with a seat in the room, or who belongs to the named thing: the guess limit does not apply. */
  async #needNotGuess(ctx: RequestContext, entry: RouteEntry): Promise<boolean> {
    if (this.#listener.authorizer.holdsSeat(ctx, entry)) return true;
    const { route, readParams } = entry;
    const { isKnownTo } = route.guessable ?? {};
    if (isKnownTo === undefined) return false;
    const params = readParams === null ? nothing : readParams(ctx.paramValues);
    return isKnownTo({ playerId: ctx.playerId, params, deps: this.#listener.depsOf(ctx) as never });
  }

  /** True unless the text has not the form of a code, or the caller has a seat and so knows the code. */
  #isGuess(ctx: RequestContext, entry: RouteEntry): boolean {
    const { roomParam } = entry;
    if (roomParam < 0) return true;
    return (
      roomCodeOf(ctx.paramValues[roomParam] ?? "") !== null &&
      !this.#listener.authorizer.holdsSeat(ctx, entry)
    );
  }

  #handle(ctx: RequestContext, entry: RouteEntry): Promise<Reply> | Reply {
    const { readQuery, readBody, readParams, route } = entry;
    const query = readQuery === null ? nothing : readQuery(ctx.query);
    const body = readBody === null ? nothing : readBody(objectOf(ctx, entry));
    const params = readParams === null ? nothing : readParams(ctx.paramValues);
    const files = route.form ? takeFiles(ctx, entry.maxFileBytes) : noFiles;
    const deps = this.#listener.depsOf(ctx);
    const { caller } = ctx;
    const input = {
      params,
      query,
      body,
      files,
      caller,
      deps,
      request: ctx,
      memoizeForKey: withoutMemo,
      drawn: undefined,
    };
    const key = route.idempotent ? ctx.headers["idempotency-key"] : undefined;
    const draw = route.draw && (() => route.draw?.(deps as never));
    if (key !== undefined)
      return this.#idempotency.run(
        ctx,
        key,
        (memoizeForKey, drawn) => route.handler({ ...input, memoizeForKey, drawn } as never),
        draw,
      );
    if (entry.isForBrowsers && namesHtml(ctx)) return this.#showPage(ctx, entry, input);
    if (draw === undefined) return route.handler(input as never);
    return Promise.resolve(draw()).then((drawn) => route.handler({ ...input, drawn } as never));
  }

  /** The answer for a browser. A change is waited for: it goes on when nobody waits. */
  #showPage(ctx: RequestContext, entry: RouteEntry, input: BrowserInput): Promise<Reply> {
    const { pages } = this.#listener;
    const page = replyToBrowser(entry.route, input, (shown) => pages?.finish(shown) ?? shown);
    return pages === null || entry.isWrite ? page : pages.wait(ctx, page);
  }

  #finish(ctx: RequestContext, reply: Reply): void {
    if (!ctx.isClosed) this.#complete(ctx, this.#responder.send(ctx, reply));
    else if (reply.kind === "stream") reply.release();
  }

  /** Stops the deadline, after the response or when the client disconnected. */
  clearDeadline(ctx: RequestContext): void {
    if (ctx.deadline !== null) clearTimeout(ctx.deadline);
  }

  #complete(ctx: RequestContext, status: number): void {
    this.clearDeadline(ctx);
    if (!ctx.isSending) ctx.onComplete();
    this.#recorder.record(ctx, status);
  }
}

/**
 * True if a limit, a handler or the log line may need the address, perhaps when the response is closed. Most commands of
 * a seat, and reads of a known player, need none. A miss of a player without a seat counts.
 */
function needsAddress({ playerId, seatId }: RequestContext, entry: RouteEntry): boolean {
  const { route, limit, refusalLimit, guessLimit, isWrite } = entry;
  if (playerId === null && (seatId === null || refusalLimit !== null)) return true;
  if (limit !== null || (seatId === null && guessLimit !== null)) return true;
  return isWrite && route.auth !== "seat";
}

/** True for what a page of ours sends as a form. */
const isPageForm = ({ headers }: RequestContext, { route }: RouteEntry) =>
  (route.pageAfter ?? route.page) !== undefined && isUrlForm(headers);

const objectOf = (ctx: RequestContext, entry: RouteEntry) =>
  isPageForm(ctx, entry) ? readPageForm(ctx.body, entry.route.body) : parseJsonObject(ctx.body);
