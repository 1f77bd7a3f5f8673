import { hash } from "node:crypto";
import type { Deps } from "../../app/deps.ts";
import { AppError } from "../../platform/errors.ts";
import { lobbyCodeOf } from "../../platform/text/lobby-codes.ts";
import type { KeyCheck } from "../../platform/security/api-keys.ts";
import { Authenticator } from "../auth/authenticate.ts";
import { parseJsonObject, requireJson } from "./body.ts";
import { Cors, visitProblem, type OriginSource } from "../auth/cors.ts";
import { drawAnew } from "./draft.ts";
import { createEntry, type RouteEntry } from "./entry.ts";
import { EnvelopeWriter } from "../replies/envelope.ts";
import type { Exchange } from "../uws/exchange.ts";
import { toAppError, unavailable } from "./failures.ts";
import { takeFiles, requireForm } from "./form.ts";
import { Idempotency } from "./idempotency.ts";
import { scopeOf } from "../auth/key-use.ts";
import { keyHeader, PresentedKeys } from "../auth/presented-keys.ts";
import { RateLimiter, type LimitState, type RouteLimit } from "../limits/rate-limit.ts";
import { countedAddress, countedCaller, RefusalLimiter } from "../limits/refusal-limit.ts";
import type { RequestRecorder } from "./request-record.ts";
import { createRequestDeps } from "./request-deps.ts";
import { Responder } from "../replies/respond.ts";
import type { AnyRoute, AuthLevel, FormFile, Reply } from "./route.ts";
import { Router } from "./router.ts";

/** Everything a request may take, from its headers to its answer. */
export const requestDeadlineMs = 10_000;
/** Bytes of path and query (HTTP-04). */
export const maxTargetBytes = 3_072;

/** Levels that nobody has to sign in for. */
const openLevels: ReadonlySet<AuthLevel> = new Set(["public", "optional", "optional_seat"]);
const noFiles: readonly FormFile[] = Object.freeze([]);
const nothing: Readonly<Record<string, never>> = Object.freeze({});

/**
 * The steps every request takes, in the order of HTTP-17: route, method, size and media type,
 * credential, level, rate limit, fields, handler.
 */
export class Pipeline {
  private readonly router = new Router<RouteEntry>(({ route }) => route.loosePath === true);
  private readonly authenticator: Authenticator;
  private readonly keys: PresentedKeys;
  private readonly cors: Cors;
  private readonly limiter: RateLimiter;
  private readonly refusals: RefusalLimiter;
  private readonly guesses: RefusalLimiter;
  private readonly idempotency: Idempotency;
  private readonly responder: Responder;
  private readonly recorder: RequestRecorder;
  private readonly depsOfRequest: ReturnType<typeof createRequestDeps>;

  constructor(
    deps: Deps,
    routes: readonly AnyRoute[],
    recorder: RequestRecorder,
    realmOrigins: OriginSource,
  ) {
    const { config, clock, redis } = deps;
    this.authenticator = new Authenticator(deps.tokens, deps.closedAccounts);
    this.keys = new PresentedKeys(deps.keys, clock);
    this.cors = new Cors(config, realmOrigins);
    this.limiter = new RateLimiter(redis, clock);
    this.refusals = new RefusalLimiter(this.limiter, countedCaller);
    this.guesses = new RefusalLimiter(this.limiter, countedAddress);
    this.idempotency = new Idempotency(redis);
    this.responder = new Responder(new EnvelopeWriter(config, clock), this.cors, config);
    this.recorder = recorder;
    this.depsOfRequest = createRequestDeps(deps);
    for (const route of routes) this.addRoute(createEntry(route, config, deps.metrics));
  }

  /** HEAD is answered wherever GET is, but not for a stream, which has no end (HTTP-02). */
  private addRoute(entry: RouteEntry): void {
    const { method, path, segments } = entry.route;
    this.router.add(method, path, entry, segments);
    if (method === "GET" && !entry.isStream) this.router.add("HEAD", path, entry, segments);
  }

  /** Finds the route, so that the size of the body can be judged before it is read. */
  locate(x: Exchange): void {
    try {
      if (x.path.length + x.query.length + 1 > maxTargetBytes)
        throw new AppError("request:uri_too_long");
      const match = this.router.match(x.method, x.path);
      if (match === null) throw new AppError("route:not_found");
      x.match = match;
      x.entry = match.entry;
      x.paramValues = match.params;
      if (match.entry !== null) return;
      x.allow = [...match.allow, "OPTIONS"].join(", ");
      if (x.method !== "OPTIONS")
        throw new AppError("route:method_not_allowed", { headers: [["Allow", x.allow]] });
    } catch (error) {
      x.refusal = toAppError(error);
    }
  }

  /** Who sends a form, by account and address, or why it will be refused whatever is in it: it may be large (S18). */
  previewForm(x: Exchange, { route, keyUse }: RouteEntry): readonly string[] | AppError {
    try {
      requireForm(x.headers);
      const address = `a${x.ip}`;
      if (keyUse !== "nothing") return [address];
      const { auth: level, path } = route;
      const demand = { level, path, lobby: "", key: null, isCounted: false };
      const { playerId } = this.authenticator.identify(x, demand);
      return playerId === null ? [address] : [address, `p${playerId}`];
    } catch (error) {
      return toAppError(error);
    }
  }

  /** Answers the request; the body, if any, has been read. */
  run(x: Exchange): void {
    x.deadline = setTimeout(
      () => this.fail(x, unavailable(new Error("deadline passed"))),
      x.entry?.route.deadlineMs ?? requestDeadlineMs,
    ).unref();
    this.answer(x).catch((error: unknown) => this.fail(x, error));
  }

  private async answer(x: Exchange): Promise<void> {
    if (x.refusal === null && x.method === "OPTIONS") return this.answerOptions(x);
    const entry = x.entry;
    if (entry === null) throw x.refusal ?? new AppError("route:not_found");
    const early = x.refusal ?? this.mediaProblem(x, entry);
    if (early !== null) return this.refuseEarly(x, entry, early);
    const hasKey = entry.keyUse !== "nothing" && x.headers[keyHeader] !== undefined;
    const key = hasKey ? await this.keys.check(x) : null;
    if (x.isClosed) return;
    const problem = this.identify(x, entry, key);
    if (problem !== null) return this.refuseEarly(x, entry, problem);
    if (entry.limit !== null) await this.count(x, entry, entry.limit);
    const refused = this.refusals.find(entry.refusalLimit, x);
    if (refused !== null) throw this.overLimit(x, refused);
    const guessed = this.guesses.find(entry.guessLimit, x);
    if (guessed !== null && !(await this.needNotGuess(x, entry))) throw this.overLimit(x, guessed);
    if (x.isClosed) return;
    let reply: Reply;
    try {
      reply = await this.handle(x, entry);
    } catch (error) {
      throw await this.countRefusal(x, entry, error);
    }
    this.finish(x, reply);
  }

  /** Answers with the refusal `error` stands for. */
  fail(x: Exchange, error: unknown): void {
    if (x.isClosed) return;
    const refusal = toAppError(error);
    if (refusal.status >= 500 && refusal === error && refusal.detail.cause === undefined) {
      this.recorder.recordFailure(x, refusal, refusal.status);
    } else if (refusal.status >= 500)
      this.recorder.recordFailure(x, refusal.detail.cause ?? refusal, refusal.status);
    this.settle(x, this.responder.sendError(x, refusal));
  }

  private answerOptions(x: Exchange): void {
    const wanted = x.headers["access-control-request-method"] ?? "GET";
    const match = this.router.match(wanted, x.path);
    const isForAll = this.cors.isForAll(match?.entry?.route);
    this.settle(x, this.responder.sendPreflight(x, x.allow, isForAll));
  }

  private mediaProblem(x: Exchange, entry: RouteEntry): AppError | null {
    try {
      if (!x.body?.length) return null;
      if (entry.readBody !== null) requireJson(x.headers);
      if (entry.route.form) requireForm(x.headers);
      return null;
    } catch (error) {
      return toAppError(error);
    }
  }

  /** Refused before the limit is looked at: where nobody has to sign in that counts too (HTTP-17). */
  private async refuseEarly(x: Exchange, entry: RouteEntry, problem: AppError): Promise<void> {
    const { limit, route } = entry;
    if (limit !== null && openLevels.has(route.auth))
      x.limit = await this.limiter.count(limit, x, x.playerId ?? x.keyOwner);
    throw problem;
  }

  /** Why the request is refused: the 401 and 403 of the level, or a page that may not use the cookie. */
  private identify(x: Exchange, entry: RouteEntry, check: KeyCheck | null): AppError | null {
    if (check === null && entry.isAnonymous) return null;
    const { auth: level, cookieAuthority, setsCookie, path } = entry.route;
    const lobby = entry.lobbyParam < 0 ? "" : (x.paramValues[entry.lobbyParam] ?? "");
    const scope = scopeOf(entry.keyUse);
    const key = check === null || scope === null ? null : { check, scope };
    x.keyOwner = check?.key?.ownerId ?? null;
    try {
      const isCounted = entry.limit !== null;
      const identity = this.authenticator.identify(x, { level, path, lobby, key, isCounted });
      x.caller = identity.caller;
      x.playerId = identity.playerId;
      x.seatId = identity.seatId;
      const hasCookie = cookieAuthority !== undefined && x.cookies[cookieAuthority] !== undefined;
      const isByCookie = entry.isWrite && (hasCookie || identity.isFromCookie);
      const problem = isByCookie ? this.cors.pageProblem(x) : null;
      return problem ?? this.siteProblem(x, setsCookie);
    } catch (error) {
      return toAppError(error);
    }
  }

  /** What is wrong when another site has a cookie set; a page that a key names gets none, its calls are without (S45). */
  private siteProblem(x: Exchange, setsCookie: AnyRoute["setsCookie"]): AppError | null {
    if (setsCookie === undefined || x.keyOwner !== null) return null;
    return setsCookie === "by-page" ? this.cors.siteProblem(x) : visitProblem(x);
  }

  private async count(x: Exchange, entry: RouteEntry, limit: RouteLimit): Promise<void> {
    const state = await this.limiter.count(limit, x, x.playerId ?? x.keyOwner);
    const own = state.isExceeded ? await this.countSecret(x, entry, limit) : null;
    x.limit = own ?? state;
    if (x.limit.isExceeded) throw this.overLimit(x, x.limit);
  }

  /** The limit as it stands for the right secret of a request, whatever comes from its address; null without one. */
  private async countSecret(
    x: Exchange,
    entry: RouteEntry,
    limit: RouteLimit,
  ): Promise<LimitState | null> {
    const { route, readQuery, readBody } = entry;
    if (route.heldSecret === undefined || x.isClosed) return null;
    try {
      const query = readQuery === null ? nothing : readQuery(x.query);
      const body = readBody === null ? nothing : readBody(parseJsonObject(x.body));
      const deps = this.depsOfRequest(x);
      const secret = await route.heldSecret({ query, body, deps, request: x } as never);
      if (secret === null) return null;
      return await this.limiter.count(limit, `secret:${hash("sha256", secret, "base64url")}`, null);
    } catch {
      // Without its fields, or the store that knows it, there is no secret.
      return null;
    }
  }

  private overLimit(x: Exchange, state: LimitState): AppError {
    x.limit = state;
    this.recorder.recordLimited(x);
    return new AppError("rate_limit:exceeded", { params: { retry_after: state.reset } });
  }

  /** The refusal for what a handler threw; one that counts becomes that of the limit when it is one too many. */
  private async countRefusal(x: Exchange, entry: RouteEntry, error: unknown): Promise<unknown> {
    const { refusalLimit, guessLimit, route } = entry;
    const { code } = toAppError(error);
    const isCounted = route.countedRefusals?.includes(code);
    const isMiss = route.guessable?.misses.includes(code) && this.isGuess(x, entry);
    const states = await Promise.all([
      isMiss && guessLimit !== null ? this.guesses.count(guessLimit, x) : null,
      isCounted && refusalLimit !== null ? this.refusals.count(refusalLimit, x) : null,
    ]);
    const exceeded = states.find((state) => state?.isExceeded);
    return exceeded ? this.overLimit(x, exceeded) : error;
  }

  /** Who sits in the lobby, or belongs to whatever the request names, is not hindered by others at the address. */
  private async needNotGuess(x: Exchange, entry: RouteEntry): Promise<boolean> {
    if (this.holdsSeat(x, entry)) return true;
    const { route, readParams } = entry;
    const { isKnownTo } = route.guessable ?? {};
    if (isKnownTo === undefined) return false;
    const params = readParams === null ? nothing : readParams(x.paramValues);
    return isKnownTo({ playerId: x.playerId, params, deps: this.depsOfRequest(x) });
  }

  /** What cannot be a code tells nobody anything, and who holds a seat knows the code. */
  private isGuess(x: Exchange, entry: RouteEntry): boolean {
    const { lobbyParam } = entry;
    if (lobbyParam < 0) return true;
    return lobbyCodeOf(x.paramValues[lobbyParam] ?? "") !== null && !this.holdsSeat(x, entry);
  }

  private holdsSeat(x: Exchange, { lobbyParam }: RouteEntry): boolean {
    return lobbyParam >= 0 && this.authenticator.holdsSeat(x, x.paramValues[lobbyParam] ?? "");
  }

  private handle(x: Exchange, entry: RouteEntry): Promise<Reply> | Reply {
    const { readQuery, readBody, readParams, route } = entry;
    const query = readQuery === null ? nothing : readQuery(x.query);
    const body = readBody === null ? nothing : readBody(parseJsonObject(x.body));
    const params = readParams === null ? nothing : readParams(x.paramValues);
    const files = route.form ? takeFiles(x, entry.maxFileBytes) : noFiles;
    const deps = this.depsOfRequest(x);
    const { caller } = x;
    const input = { params, query, body, files, caller, deps, request: x, once: drawAnew };
    const key = route.idempotent ? x.headers["idempotency-key"] : undefined;
    if (key === undefined) return route.handler(input as never);
    return this.idempotency.run(x, key, (once) => route.handler({ ...input, once } as never));
  }

  private finish(x: Exchange, reply: Reply): void {
    if (!x.isClosed) this.settle(x, this.responder.send(x, reply));
    else if (reply.kind === "stream") reply.abandon();
  }

  /** The client went away. */
  forget(x: Exchange): void {
    if (x.deadline !== null) clearTimeout(x.deadline);
  }

  private settle(x: Exchange, status: number): void {
    this.forget(x);
    if (!x.isSending) x.onSettled();
    this.recorder.record(x, status);
  }
}
