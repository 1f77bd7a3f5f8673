import {
  App,
  listenOn,
  us_listen_socket_close,
  us_socket_local_port,
  type HttpRequest,
  type HttpResponse,
  type us_listen_socket,
} from "./uws.ts";
import { AppError } from "../../platform/errors.ts";
import type { Logger } from "../../platform/log/logger.ts";
import type { HttpDeps } from "../deps.ts";
import { createAddressReader, type AddressReader } from "../pipeline/client-address.ts";
import { Cors, type OriginSource } from "../auth/cors.ts";
import { PlayerAuthorizer } from "../auth/player-authorizer.ts";
import type { OwnerPortSource } from "../replies/owner-port.ts";
import type { RouteEntry } from "../pipeline/entry.ts";
import { addHeader } from "../pipeline/request-context.ts";
import { UwsContext } from "./uws-context.ts";
import { framingProblem, hasBody, isLastRequest } from "./framing.ts";
import { readRequestBody } from "./incoming-body.ts";
import { Pipeline, requestDeadlineMs } from "../pipeline/pipeline.ts";
import { createRequestDeps } from "../pipeline/request-deps.ts";
import { safetyHeaders } from "../replies/safety-headers.ts";
import { abortedStatus, RequestRecorder } from "../pipeline/request-record.ts";
import { UploadQuota, type Sender } from "./upload-quota.ts";
import { isOperatorRoute, type AnyRoute, type Route } from "../pipeline/route.ts";

export interface HttpServerOptions<D extends HttpDeps> {
  deps: D;
  /** Routes whose handlers take no more than `deps` has. */
  routes: readonly Route<D>[];
  log: Logger;
  /** Origins of active realms, beside the configured ones (HTTP-10). */
  realmOrigins?: OriginSource;
  /** Dedicated ports of the workers that own rooms; without it responses contain no port (HTTP-19). */
  ownerPort?: OwnerPortSource;
  /** Refuse a port that another process listens on; workers of one service share theirs. */
  exclusive?: boolean;
}

export interface HttpServer {
  /** Resolves to the port; rejects when the address is not available. */
  listen(host: string, port: number): Promise<number>;
  /**
   * Also listens on a dedicated port, which is the `workerPort` of requests that arrive there. Rejects if
   * the port is not available.
   */
  listenDedicated(host: string, port: number): Promise<void>;
  /**
   * True: the port closes soon, so responses close their connections, and everything is still served (BOOT-10). False:
   * it does not after all.
   */
  announceLeave(isLeaving: boolean): void;
  /** Starts the drain: accepts no new connections, and responses close theirs (S41). */
  beginDrain(): void;
  /** Waits for the requests in flight, at most one request deadline, then closes all connections. */
  close(limitMs?: number): Promise<void>;
  /** Number of unanswered requests, without open streams. */
  inFlight(): number;
}

const drainPollMs = 10;
const noOrigins: ReadonlySet<string> = new Set();

/** Serves the routes over HTTP. Nothing listens before `listen`. */
export function createHttpServer<D extends HttpDeps>(options: HttpServerOptions<D>): HttpServer {
  // Guard: a mistake in a route table must not expose an operator route on the public port (S16).
  const misplaced = options.routes.find(isOperatorRoute);
  if (misplaced) throw new Error(`${misplaced.path} belongs to the operator listener`);
  return new UwsServer(options);
}

/** The server itself reads only the records of the routes; the pipeline calls their handlers. */
type UwsServerOptions = Omit<HttpServerOptions<HttpDeps>, "routes"> & {
  routes: readonly AnyRoute[];
};

class UwsServer implements HttpServer {
  readonly #app = App();
  /**
   * A second server for the dedicated port, because uWebSockets does not expose the local port of a
   * request.
   */
  #ownApp: ReturnType<typeof App> | null = null;
  readonly #pipeline: Pipeline;
  readonly #recorder: RequestRecorder;
  readonly #readAddress: AddressReader;
  readonly #uploads: UploadQuota;
  readonly #log: Logger;
  readonly #isExclusive: boolean;
  readonly #hasProxies: boolean;
  readonly #keepsAlive: boolean;
  #listenSockets: us_listen_socket[] = [];
  #isLeaving = false;
  #isDraining = false;
  #open = 0;
  readonly #completed = () => {
    this.#open -= 1;
  };

  constructor({ deps, routes, log, exclusive = false, ...sources }: UwsServerOptions) {
    const { realmOrigins = () => noOrigins, ownerPort = () => null } = sources;
    this.#log = log;
    this.#recorder = new RequestRecorder(log, deps);
    this.#uploads = new UploadQuota(deps);
    const cors = new Cors(deps.config, realmOrigins);
    this.#pipeline = new Pipeline(deps, routes, this.#recorder, {
      authorizer: new PlayerAuthorizer(deps, cors),
      cors,
      ownerPort,
      safetyOf: (route) => safetyHeaders(route, deps.config),
      isBehindProxy: deps.config.TRUSTED_PROXIES !== "",
      depsOf: createRequestDeps(deps),
      pages: null,
    });
    const readAddress = createAddressReader(deps.config.TRUSTED_PROXIES);
    this.#readAddress = (peer, forwardedFor) => {
      const address = readAddress(peer, forwardedFor);
      if (address.ip === null)
        log.warn(
          { event: "client_address_missing", proxy: peer, forwardedFor },
          "a trusted proxy sent no client address, configure it to set X-Forwarded-For",
        );
      return address;
    };
    this.#isExclusive = exclusive;
    this.#keepsAlive = deps.config.KEEP_ALIVE;
    this.#hasProxies = deps.config.TRUSTED_PROXIES !== "";
    this.#app.any("/*", (res, req) => this.#accept(res, req, null));
  }

  async listen(host: string, port: number): Promise<number> {
    const isExclusive = this.#isExclusive;
    const socket = await listenOn(this.#app, { host, port, isExclusive });
    this.#listenSockets.push(socket);
    return us_socket_local_port(socket);
  }

  async listenDedicated(host: string, port: number): Promise<void> {
    const app = App();
    app.any("/*", (res, req) => this.#accept(res, req, port));
    this.#listenSockets.push(await listenOn(app, { host, port, isExclusive: true }));
    this.#ownApp = app;
  }

  announceLeave(isLeaving: boolean): void {
    this.#isLeaving = isLeaving;
  }

  beginDrain(): void {
    this.#isDraining = true;
    for (const socket of this.#listenSockets.splice(0)) us_listen_socket_close(socket);
  }

  async close(limitMs = requestDeadlineMs): Promise<void> {
    this.beginDrain();
    const giveUpAt = performance.now() + Math.min(limitMs, requestDeadlineMs);
    while (this.#open > 0 && performance.now() < giveUpAt)
      await new Promise((resolve) => setTimeout(resolve, drainPollMs));
    this.#app.close();
    this.#ownApp?.close();
    this.#uploads.close();
  }

  inFlight(): number {
    return this.#open;
  }

  /** uWebSockets ends the process when this handler throws, or returns without a response or `onAborted`. */
  #accept(res: HttpResponse, req: HttpRequest, workerPort: number | null): void {
    let ctx: UwsContext | null = null;
    res.onAborted(() => ctx && this.#abort(ctx));
    try {
      ctx = this.#read(res, req, workerPort);
      this.#serve(ctx);
    } catch (error) {
      this.#log.error(
        { event: "request_handling_failed", err: error },
        "request handling failed, connection closed",
      );
      if (!ctx?.isClosed) res.close();
    }
  }

  /** Copies the request: uWebSockets invalidates `req` when `accept` returns. */
  #read(res: HttpResponse, req: HttpRequest, workerPort: number | null): UwsContext {
    this.#open += 1;
    const method = req.getCaseSensitiveMethod().toUpperCase();
    // The typings are wrong: without a question mark the query is undefined.
    const query = (req.getQuery() as string | undefined) ?? "";
    const path = req.getUrl();
    const ctx = new UwsContext(
      res,
      method,
      path,
      query,
      workerPort,
      this.#completed,
      this.#readAddress,
    );
    req.forEach((name, value) => addHeader(ctx.headers, name, value));
    ctx.identify();
    ctx.mustClose =
      this.#isLeaving ||
      this.#isDraining ||
      !this.#keepsAlive ||
      isLastRequest(method, ctx.headers) ||
      this.#isUnmarked(ctx);
    return ctx;
  }

  /** True when a trusted proxy sent no `X-Forwarded-For`: a header without a name can hide it. */
  #isUnmarked(ctx: UwsContext): boolean {
    return this.#hasProxies && ctx.headers["x-forwarded-for"] === undefined && ctx.isFromProxy;
  }

  #serve(ctx: UwsContext): void {
    ctx.refusal = framingProblem(ctx.method, ctx.headers);
    if (ctx.refusal !== null) {
      ctx.mustClose = true;
      return this.#run(ctx);
    }
    this.#pipeline.matchRoute(ctx);
    if (!hasBody(ctx.headers)) return this.#run(ctx);
    if (ctx.entry?.route.form) return this.#readForm(ctx, ctx.entry);
    readRequestBody(ctx, () => this.#run(ctx));
  }

  /** Admission control for forms, which are large: checks the credential, then acquires an upload slot. */
  #readForm(ctx: UwsContext, entry: RouteEntry): void {
    const names = this.#pipeline.previewForm(ctx, entry);
    if (names instanceof AppError) {
      ctx.refusal = names;
      // The body is read and discarded, so that the client receives the refusal.
      return readRequestBody(ctx, () => this.#run(ctx), false);
    }
    const sender = this.#senderOf(ctx, names);
    ctx.refusal = this.#uploads.acquire(sender);
    // Refused before the body is read.
    if (ctx.refusal !== null) return this.#run(ctx);
    // The slot is held until the response: decoding an upload costs more than receiving it.
    const { onComplete } = ctx;
    const release = () => this.#uploads.release(sender);
    ctx.onClose = release;
    ctx.onComplete = () => {
      release();
      onComplete();
    };
    this.#readAdmitted(ctx, sender);
  }

  /** Reads a form, and runs it once it is complete and within the quota of all workers. */
  #readAdmitted(ctx: UwsContext, sender: Sender): void {
    let isRead = false;
    let isAdmitted = false;
    const runWhenReady = () => {
      if (isRead && isAdmitted && ctx.refusal === null && !ctx.isClosed) this.#run(ctx);
    };
    readRequestBody(ctx, () => {
      isRead = true;
      this.#uploads.finishReading(sender);
      // Too large: refused whatever the quota says.
      if (ctx.refusal !== null) return this.#run(ctx);
      runWhenReady();
    });
    void this.#uploads.acquireShared(sender).then((isHeld) => {
      isAdmitted = isHeld;
      runWhenReady();
    });
  }

  #senderOf(ctx: UwsContext, names: readonly string[]): Sender {
    return {
      names,
      get numBytes() {
        return ctx.numBodyBytes;
      },
      cutOff: (refusal) => {
        if (ctx.isClosed || ctx.refusal !== null) return;
        ctx.refusal = refusal;
        ctx.onClose = null;
        // A stalled body would keep the connection open.
        ctx.mustClose ||= refusal.code === "request:too_slow";
        this.#run(ctx);
      },
    };
  }

  /**
   * A response that closes the connection is sent in the next event loop turn: the rest of the packet may hold a
   * smuggled request, which uWebSockets would serve after a finished response; before that it closes the
   * connection instead.
   */
  #run(ctx: UwsContext): void {
    if (!ctx.mustClose) return this.#pipeline.run(ctx);
    setImmediate(() => {
      if (!ctx.isClosed) this.#pipeline.run(ctx);
    });
  }

  #abort(ctx: UwsContext): void {
    const wasOpen = !ctx.isClosed;
    ctx.isClosed = true;
    if (wasOpen) {
      this.#pipeline.clearDeadline(ctx);
      this.#completed();
      this.#recorder.record(ctx, abortedStatus);
    }
    if (ctx.isSending) ctx.endSending();
    ctx.onClose?.();
  }
}
