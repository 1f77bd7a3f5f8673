import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { AppError } from "../../platform/errors.ts";
import type {
  WithClock,
  WithConfig,
  WithFaults,
  WithMetrics,
  WithRedis,
  WithRequests,
} from "../../platform/capabilities.ts";
import type { Logger } from "../../platform/log/logger.ts";
import type { WithTracer } from "../../platform/tracing/tracer.ts";
import { countedAddress, embeddedAddress } from "../../platform/net/ip-addresses.ts";
import { maxBodyBytes } from "../pipeline/body.ts";
import { createAddressReader, type AddressReader } from "../pipeline/client-address.ts";
import type { Listener } from "../pipeline/listener.ts";
import { Pipeline } from "../pipeline/pipeline.ts";
import { addHeader } from "../pipeline/request-context.ts";
import { abortedStatus, RequestRecorder } from "../pipeline/request-record.ts";
import type { AnyRoute } from "../pipeline/route.ts";
import { NodeContext } from "./node-context.ts";
import { TakenConnections } from "./taken-connections.ts";

export interface NodeServerOptions {
  deps: WithConfig & WithClock & WithMetrics & WithRedis & WithFaults & WithRequests & WithTracer;
  routes: readonly AnyRoute[];
  log: Logger;
  listener: Listener;
}

export interface NodeServer {
  /** Resolves to the port. */
  listen(host: string, port: number): Promise<number>;
  /** Serves a connection that another process accepted, and of which it has read `received`. */
  take(connection: Socket, received: Buffer): void;
  /** Accepts no new requests and finishes those in flight, within a time limit (S41). */
  drain(): Promise<void>;
}

/** Connections at once; further ones are closed. */
export const maxConnections = 256;
/** Time to receive a request. */
const receiveLimitMs = 15_000;
/** A connection without a byte in either direction is closed; longer than any deadline of a route. */
const stalledLimitMs = 120_000;
const drainLimitMs = 10_000;

/**
 * Runs the pipeline over `node:http`, for a listener that few people use. Unlike uWebSockets it serves sockets that
 * another process accepted.
 */
export function createNodeServer(options: NodeServerOptions): NodeServer {
  return new PipelineServer(options);
}

class PipelineServer implements NodeServer {
  readonly #server: Server;
  readonly #pipeline: Pipeline;
  readonly #recorder: RequestRecorder;
  readonly #readAddress: AddressReader;
  readonly #taken = new TakenConnections({ max: maxConnections, receiveLimitMs });
  #isDraining = false;

  constructor({ deps, routes, log, listener }: NodeServerOptions) {
    this.#recorder = new RequestRecorder(log, deps);
    this.#pipeline = new Pipeline(deps, routes, this.#recorder, listener);
    this.#readAddress = createAddressReader(deps.config.TRUSTED_PROXIES);
    this.#server = createServer((incoming, response) => {
      this.#serve(incoming, response).catch((error: unknown) => {
        log.error(
          { event: "request_handling_failed", err: error },
          "request handling failed, connection closed",
        );
        response.destroy();
      });
    });
    this.#server.requestTimeout = receiveLimitMs;
    this.#server.headersTimeout = receiveLimitMs;
    this.#server.timeout = stalledLimitMs;
    this.#server.maxConnections = maxConnections;
  }

  async listen(host: string, port: number): Promise<number> {
    this.#server.listen({ host, port, exclusive: true });
    await once(this.#server, "listening");
    const address = this.#server.address();
    return typeof address === "object" && address !== null ? address.port : port;
  }

  take(connection: Socket, received: Buffer): void {
    if (!this.#taken.add(connection)) return;
    // A client may end its side after the request.
    connection.allowHalfOpen = true;
    connection.unshift(received);
    this.#server.emit("connection", connection);
  }

  async drain(): Promise<void> {
    this.#isDraining = true;
    const closed = [once(this.#server, "close"), this.#taken.drain()];
    // Idle connections are not waited for.
    this.#server.keepAliveTimeout = 1;
    this.#server.close();
    const timer = setTimeout(() => {
      this.#server.closeAllConnections();
      this.#taken.destroy();
    }, drainLimitMs);
    await Promise.all(closed);
    clearTimeout(timer);
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const ctx = this.#read(incoming, response);
    response.once("close", () => {
      this.#abort(ctx);
      this.#taken.markWaiting(incoming.socket);
    });
    if (ctx.path.startsWith("/")) this.#pipeline.matchRoute(ctx);
    else ctx.refusal = new AppError("request:malformed_url");
    await this.#readBody(ctx, incoming);
    this.#taken.markServing(incoming.socket);
    if (!ctx.isClosed) this.#pipeline.run(ctx);
  }

  #read(incoming: IncomingMessage, response: ServerResponse): NodeContext {
    const target = incoming.url ?? "/";
    const at = target.indexOf("?");
    const path = at < 0 ? target : target.slice(0, at);
    const query = at < 0 ? "" : target.slice(at + 1);
    const remote = incoming.socket.remoteAddress ?? "";
    const ctx = new NodeContext(response, incoming.method ?? "GET", path, query, () =>
      this.#addressOf(remote, ctx.headers["x-forwarded-for"]),
    );
    const { rawHeaders } = incoming;
    for (let i = 0; i < rawHeaders.length; i += 2)
      addHeader(ctx.headers, (rawHeaders[i] ?? "").toLowerCase(), rawHeaders[i + 1] ?? "");
    ctx.identify();
    ctx.mustClose = this.#isDraining;
    return ctx;
  }

  /** If a proxy names no client, its own address. */
  #addressOf(remote: string, forwardedFor: string | undefined) {
    const peer = embeddedAddress(remote) ?? remote;
    const { ip, isFromProxy } = this.#readAddress(peer, forwardedFor);
    return { ip: ip ?? countedAddress(peer), isFromProxy };
  }

  /** Reads the body up to the limit of the route (HTTP-04). */
  async #readBody(ctx: NodeContext, incoming: IncomingMessage): Promise<void> {
    const limit = ctx.entry?.maxBodyBytes ?? maxBodyBytes;
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of incoming as AsyncIterable<Buffer>) {
        ctx.numBodyBytes += chunk.length;
        if (ctx.numBodyBytes > limit) break;
        chunks.push(chunk);
      }
    } catch (error) {
      // The client disconnected in the middle of its body.
      if (incoming.complete) throw error;
    }
    if (ctx.numBodyBytes <= limit) {
      ctx.body = Buffer.concat(chunks);
      return;
    }
    // The refusal of an unknown route or method has precedence (HTTP-17).
    ctx.refusal ??= new AppError("request:too_large");
    // The unread rest must not be parsed as the next request.
    ctx.mustClose = true;
  }

  #abort(ctx: NodeContext): void {
    if (ctx.isClosed) return;
    ctx.isClosed = true;
    this.#pipeline.clearDeadline(ctx);
    this.#recorder.record(ctx, abortedStatus);
  }
}
