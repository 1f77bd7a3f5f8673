/** What a span says beside its times; never texts of users, addresses or secrets (S27). */
export type SpanFacts = Readonly<Record<string, string | number | boolean>>;

export interface SpanStart {
  /** `server` answers a request, `consumer` takes a job, `producer` publishes. */
  kind: "server" | "consumer" | "producer" | "internal";
  /** The `traceparent` of what caused it; without one a trace begins. */
  parent: string | undefined;
  /** As of `performance.now()`, as all times of spans. */
  startMs: number;
  facts: SpanFacts;
}

/** A part of a trace that has not ended. */
export interface OpenSpan {
  /** For the origin of the work that it causes. */
  readonly traceparent: string;
  /** `error`: the code of the failure. */
  end(endMs: number, facts?: SpanFacts, error?: string | null): void;
}

/** Makes the spans of a process and sends them to a collector. Null stands for a service without one (BOOT-54). */
export interface Tracer {
  /** Neither throws nor waits. */
  start(name: string, about: SpanStart): OpenSpan;
  /** Sends what waits, within a bounded time. */
  stop(): Promise<void>;
}

export interface WithTracer {
  tracer: Tracer | null;
}

const form = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;

/** The parts of a `traceparent` (W3C Trace Context, version 00); null for any other text. */
export function parseTraceparent(
  text: string,
): { traceId: string; spanId: string; traceFlags: number } | null {
  const [, traceId, spanId, flags] = form.exec(text) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return null;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) };
}
