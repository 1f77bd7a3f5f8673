import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Context,
  type Span,
  type Tracer as LibraryTracer,
} from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { Config } from "../config/config.ts";
import type { Instance } from "../instance.ts";
import type { Logger } from "../log/logger.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { withTimeout } from "../time/deadline.ts";
import { SpanBuffer } from "./span-buffer.ts";
import {
  parseTraceparent,
  type OpenSpan,
  type SpanFacts,
  type SpanStart,
  type Tracer,
} from "./tracer.ts";

const sendEveryMs = 1_000;
/** For one batch, with its retries. */
const sendLimitMs = 5_000;
/** Longest wait of a process that stops. */
const lastSendMs = 2_000;

const kinds = {
  server: SpanKind.SERVER,
  consumer: SpanKind.CONSUMER,
  producer: SpanKind.PRODUCER,
  internal: SpanKind.INTERNAL,
} as const;

export interface TracerOptions {
  config: Pick<Config, "OTEL_EXPORTER_OTLP_ENDPOINT" | "OTEL_TRACES_SAMPLER_ARG">;
  instance: Instance;
  log: Logger;
  metrics: Pick<Metrics, "spans">;
}

/**
 * Spans by OTLP over HTTP. The context of a span is handed on as a value, with the origin, and not looked up (OPS-30):
 * neither the global registry of the library nor its context is used.
 */
export class OtlpTracer implements Tracer {
  readonly #provider: TracerProvider;
  readonly #tracer: LibraryTracer;

  constructor({ config, instance, log, metrics }: TracerOptions) {
    const { role, index, id, version } = instance;
    const exporter = new OTLPTraceExporter({
      url: `${config.OTEL_EXPORTER_OTLP_ENDPOINT.replace(/\/+$/, "")}/v1/traces`,
      timeoutMillis: sendLimitMs,
      concurrencyLimit: 1,
    });
    const buffer = new SpanBuffer({ exporter, log, spans: metrics.spans });
    this.#provider = new TracerProvider({
      resource: resourceFromAttributes({
        "service.name": "emberline",
        "service.version": version,
        "service.instance.id": id,
        "emberline.process": `${role}-${index}`,
      }),
      // What a trusted proxy or another process has decided counts.
      sampler: new ParentBasedSampler({
        root: new TraceIdRatioBasedSampler(config.OTEL_TRACES_SAMPLER_ARG),
      }),
      spanProcessors: [
        buffer.inFrontOf(
          (counted, maxQueueSize) =>
            new BatchSpanProcessor({
              ...{ exporter: counted, maxQueueSize },
              scheduledDelayMillis: sendEveryMs,
              exportTimeoutMillis: 2 * sendLimitMs,
            }),
        ),
      ],
    });
    this.#tracer = this.#provider.getTracer("emberline", version);
  }

  start(name: string, { kind, parent, startMs, facts }: SpanStart): OpenSpan {
    const options = { kind: kinds[kind], startTime: startMs, attributes: facts };
    return new OtlpSpan(this.#tracer.startSpan(name, options, contextOf(parent)));
  }

  async stop(): Promise<void> {
    await withTimeout(this.#provider.shutdown(), lastSendMs).catch(() => undefined);
  }
}

function contextOf(parent: string | undefined): Context {
  const parts = parent === undefined ? null : parseTraceparent(parent);
  return parts === null
    ? ROOT_CONTEXT
    : trace.setSpanContext(ROOT_CONTEXT, { ...parts, isRemote: true });
}

class OtlpSpan implements OpenSpan {
  readonly #span: Span;

  constructor(span: Span) {
    this.#span = span;
  }

  get traceparent(): string {
    const { traceId, spanId, traceFlags } = this.#span.spanContext();
    return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;
  }

  end(endMs: number, facts: SpanFacts = {}, error: string | null = null): void {
    this.#span.setAttributes(facts);
    if (error !== null) {
      this.#span.setAttribute("error.type", error);
      this.#span.setStatus({ code: SpanStatusCode.ERROR });
    }
    this.#span.end(endMs);
  }
}
