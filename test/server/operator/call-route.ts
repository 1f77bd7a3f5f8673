import type { Redis } from "ioredis";
import type { ErrorCode } from "../../../server/platform/errors.ts";
import { AppError } from "../../../server/platform/errors.ts";
import { parseConfig } from "../../../server/platform/config/config.ts";
import { silentLogger } from "../../../server/platform/log/logger.ts";
import { createMetrics } from "../../../server/platform/metrics/metrics.ts";
import { noFaults } from "../../../server/platform/faults/recorder.ts";
import { noRequests } from "../../../server/platform/requests/tracker.ts";
import { systemClock } from "../../../server/platform/time/clock.ts";
import { noOutages } from "../../support/operator.ts";
import type { OperatorRole } from "../../../server/http/auth/auth.ts";
import { Pipeline } from "../../../server/http/pipeline/pipeline.ts";
import { RequestContext } from "../../../server/http/pipeline/request-context.ts";
import { RequestRecorder } from "../../../server/http/pipeline/request-record.ts";
import type { Pagination, Route } from "../../../server/http/pipeline/route.ts";
import type { Output } from "../../../server/http/replies/output.ts";
import { operatorListener } from "../../../server/operator/listener.ts";

export interface Call {
  method?: string;
  role?: OperatorRole;
  body?: object;
  headers?: Record<string, string>;
}

export interface Answered<Body> {
  status: number;
  text: string;
  body: Body;
  pagination: Pagination | undefined;
}

/** A request without a connection. */
class TestContext extends RequestContext {
  readonly sent = Promise.withResolvers<Output>();

  send(output: Output): void {
    this.sent.resolve(output);
  }

  openStream(): never {
    throw new Error("operator routes have no streams");
  }

  partsOf(): never {
    throw new Error("operator routes take no files");
  }

  protected readAddress() {
    return { ip: "127.0.0.1", isFromProxy: false };
  }
}

/** Sends a request of an operator through the pipeline, without a connection and without stores. */
export async function answerOf<D extends object, Body>(
  routes: readonly Route<D>[],
  deps: D,
  target: string,
  { method = "GET", role = "operator", body, headers = {} }: Call = {},
): Promise<Answered<Body>> {
  const base = {
    config: parseConfig({}),
    clock: systemClock,
    metrics: createMetrics(),
    faults: noFaults,
    requests: noRequests,
    tracer: null,
  };
  const authorizer = {
    authorize: (ctx: RequestContext) => {
      ctx.caller = { name: "olga", role };
      return null;
    },
    previewForm: () => [],
    holdsSeat: () => false,
  };
  const recorder = new RequestRecorder(silentLogger, base);
  const redis = {} as Redis;
  const listener = operatorListener({ authorizer, deps, outages: noOutages(systemClock) });
  const pipeline = new Pipeline({ ...base, redis }, routes, recorder, listener);
  const [path = "", query = ""] = target.split("?");
  const ctx = new TestContext(method, path, query, null, () => {});
  Object.assign(ctx.headers, { "content-type": "application/json" }, headers);
  ctx.body = body === undefined ? null : Buffer.from(JSON.stringify(body));
  ctx.identify();
  pipeline.matchRoute(ctx);
  pipeline.run(ctx);
  const { status, payload } = await ctx.sent.promise;
  const text = String(payload ?? "");
  const json = text.startsWith("{") ? (JSON.parse(text) as Envelope) : {};
  return { status, text, body: json.body as Body, pagination: json.pagination };
}

interface Envelope {
  body?: unknown;
  pagination?: Pagination;
  flash?: { errors: { code: ErrorCode }[] };
}

/** The body of a GET; rejects with its refusal. */
export async function callRouteOf<D extends object, Body>(
  routes: readonly Route<D>[],
  deps: D,
  target: string,
): Promise<Body> {
  const { status, body, text } = await answerOf<D, Body>(routes, deps, target);
  if (status >= 400) throw refusalIn(text);
  return body;
}

/** The refusal that an answer states. */
export function refusalIn(text: string): AppError {
  const [error] = (JSON.parse(text) as Envelope).flash?.errors ?? [];
  return new AppError(error?.code ?? "server:error");
}
