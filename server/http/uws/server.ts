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
import { addressText } from "../../platform/net/ip-addresses.ts";
import type { Logger } from "../../platform/log/logger.ts";
import type { Deps } from "../../app/deps.ts";
import { createAddressReader, type AddressReader } from "./client-address.ts";
import type { OriginSource } from "../auth/cors.ts";
import type { RouteEntry } from "../pipeline/entry.ts";
import { addHeader, Exchange } from "./exchange.ts";
import { framingProblem, hasBody, isLastRequest } from "./framing.ts";
import { readRequestBody } from "./incoming-body.ts";
import { Pipeline, requestDeadlineMs } from "../pipeline/pipeline.ts";
import { abortedStatus, RequestRecorder } from "../pipeline/request-record.ts";
import { UploadPlaces, type Sender } from "./upload-places.ts";
import { isOperatorRoute, type AnyRoute } from "../pipeline/route.ts";

export interface HttpServerOptions {
  deps: Deps;
  routes: readonly AnyRoute[];
  log: Logger;
  /** Origins of active realms, beside the configured ones (HTTP-10). */
  realmOrigins?: OriginSource;
  /** Refuse a port that another process listens on; workers of one service share theirs. */
  exclusive?: boolean;
}

export interface HttpServer {
  /** Resolves to the port; rejects when the address cannot be had. */
  listen(host: string, port: number): Promise<number>;
  /** Takes no new connections; answers end theirs (S41). */
  beginDrain(): void;
  /** Waits for the requests in flight, at most one deadline, then cuts what is left. */
  close(): Promise<void>;
  /** Requests not answered yet; open streams are not among them. */
  inFlight(): number;
}

const drainPollMs = 10;
const noOrigins: ReadonlySet<string> = new Set();

/** Serves the routes over HTTP. Nothing listens before `listen`. */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  // No mistake in a table may put an operator's address on the public port (S16).
  const misplaced = options.routes.find(isOperatorRoute);
  if (misplaced) throw new Error(`${misplaced.path} belongs to the operator listener`);
  return new UwsServer(options);
}

class UwsServer implements HttpServer {
  private readonly app = App();
  private readonly pipeline: Pipeline;
  private readonly recorder: RequestRecorder;
  private readonly readAddress: AddressReader;
  private readonly uploads: UploadPlaces;
  private readonly log: Logger;
  private readonly isExclusive: boolean;
  private readonly hasProxies: boolean;
  private readonly keepsAlive: boolean;
  private listenSocket: us_listen_socket | null = null;
  private isDraining = false;
  private open = 0;
  private readonly settled = () => {
    this.open -= 1;
  };

  constructor({ deps, routes, log, realmOrigins, exclusive = false }: HttpServerOptions) {
    this.log = log;
    this.recorder = new RequestRecorder(log, deps.metrics);
    this.uploads = new UploadPlaces(deps.redis);
    this.pipeline = new Pipeline(deps, routes, this.recorder, realmOrigins ?? (() => noOrigins));
    const readAddress = createAddressReader(deps.config.TRUSTED_PROXIES);
    this.readAddress = (peer, forwardedFor) => {
      const address = readAddress(peer, forwardedFor);
      // Told to the log, since only the operator can mend it.
      if (address.ip === null)
        log.warn({ proxy: peer, forwardedFor }, "a trusted proxy does not say who its client is");
      return address;
    };
    this.isExclusive = exclusive;
    this.keepsAlive = deps.config.KEEP_ALIVE;
    this.hasProxies = deps.config.TRUSTED_PROXIES !== "";
    this.app.any("/*", (res, req) => this.accept(res, req));
  }

  async listen(host: string, port: number): Promise<number> {
    this.listenSocket = await listenOn(this.app, { host, port, isExclusive: this.isExclusive });
    return us_socket_local_port(this.listenSocket);
  }

  beginDrain(): void {
    this.isDraining = true;
    if (this.listenSocket !== null) us_listen_socket_close(this.listenSocket);
    this.listenSocket = null;
  }

  async close(): Promise<void> {
    this.beginDrain();
    const giveUpAt = performance.now() + requestDeadlineMs;
    while (this.open > 0 && performance.now() < giveUpAt)
      await new Promise((resolve) => setTimeout(resolve, drainPollMs));
    this.app.close();
    this.uploads.close();
  }

  inFlight(): number {
    return this.open;
  }

  /** An exception that leaves this function ends the process, and so does a return without answer or `onAborted`. */
  private accept(res: HttpResponse, req: HttpRequest): void {
    let x: Exchange | null = null;
    res.onAborted(() => x && this.abort(x));
    try {
      x = this.read(res, req);
      this.serve(x);
    } catch (error) {
      this.log.error({ err: error }, "request handling failed");
      if (!x?.isClosed) res.close();
    }
  }

  /** Copies what the request says: `req` is dead once `accept` returns. */
  private read(res: HttpResponse, req: HttpRequest): Exchange {
    this.open += 1;
    const method = req.getCaseSensitiveMethod().toUpperCase();
    // Without a question mark the query is undefined, whatever the typings say.
    const query = (req.getQuery() as string | undefined) ?? "";
    const x = new Exchange(res, method, req.getUrl(), query, this.settled);
    req.forEach((name, value) => addHeader(x.headers, name, value));
    const peer = addressText(res.getRemoteAddressAsText());
    x.address = this.readAddress(peer, x.headers["x-forwarded-for"]);
    x.identify();
    x.mustClose =
      this.isDraining || !this.keepsAlive || isLastRequest(method, x.headers) || this.isUnmarked(x);
    return x;
  }

  /** Comes from a proxy of ours without the address every proxy adds, which a header without a name can hide. */
  private isUnmarked(x: Exchange): boolean {
    return this.hasProxies && x.headers["x-forwarded-for"] === undefined && x.isFromProxy;
  }

  private serve(x: Exchange): void {
    x.refusal = framingProblem(x.method, x.headers);
    if (x.refusal !== null) {
      x.mustClose = true;
      return this.run(x);
    }
    this.pipeline.locate(x);
    if (!hasBody(x.headers)) return this.run(x);
    if (x.entry?.route.form) return this.readForm(x, x.entry);
    readRequestBody(x, () => this.run(x));
  }

  /** Forms are large: few are read at a time, few of one sender, and only of those who may send one. */
  private readForm(x: Exchange, entry: RouteEntry): void {
    const names = this.pipeline.previewForm(x, entry);
    if (names instanceof AppError) {
      x.refusal = names;
      // Read to its end and dropped, so that its sender hears why.
      return readRequestBody(x, () => this.run(x), false);
    }
    const sender = this.senderOf(x, names);
    x.refusal = this.uploads.take(sender);
    // Before any of it is read: this answer waits for nothing.
    if (x.refusal !== null) return this.run(x);
    // Held until the answer: what is done with the upload costs others more than its bytes do.
    const { onSettled } = x;
    const release = () => this.uploads.release(sender);
    x.onClose = release;
    x.onSettled = () => {
      release();
      onSettled();
    };
    readRequestBody(x, () => {
      this.uploads.finishReading(sender);
      this.run(x);
    });
    this.uploads.share(sender);
  }

  private senderOf(x: Exchange, names: readonly string[]): Sender {
    return {
      names,
      get numBytes() {
        return x.numBodyBytes;
      },
      cutOff: (refusal) => {
        if (x.isClosed || x.refusal !== null) return;
        x.refusal = refusal;
        x.onClose = null;
        // The rest of a body that stands still would keep the connection.
        x.mustClose ||= refusal.code === "request:too_slow";
        this.run(x);
      },
    };
  }

  /**
   * Where the connection ends with the answer, that is given a turn later: what follows in the same packet may
   * be a smuggled request, which uWebSockets would serve after a finished answer; before an unfinished one it
   * cuts the connection instead.
   */
  private run(x: Exchange): void {
    if (!x.mustClose) return this.pipeline.run(x);
    setImmediate(() => {
      if (!x.isClosed) this.pipeline.run(x);
    });
  }

  private abort(x: Exchange): void {
    const wasOpen = !x.isClosed;
    x.isClosed = true;
    if (wasOpen) {
      this.pipeline.forget(x);
      this.settled();
      this.recorder.record(x, abortedStatus);
    }
    if (x.isSending) x.endSending();
    x.onClose?.();
  }
}
