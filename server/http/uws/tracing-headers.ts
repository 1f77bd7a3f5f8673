/** Headers that tracing scripts add to requests, beside those every preflight allows. */
const names: ReadonlySet<string> = new Set([
  "traceparent",
  "tracestate",
  "baggage",
  "b3",
  "sentry-trace",
  "newrelic",
  "request-id",
  "request-context",
  "correlation-context",
  "elastic-apm-traceparent",
  "grpc-trace-bin",
  "uber-trace-id",
  "x-amzn-trace-id",
  "x-cloud-trace-context",
  "x-correlation-id",
  "x-dtc",
  "x-dtpc",
  "x-dtreferer",
  "x-highlight-request",
  "x-honeycomb-trace",
  "x-ms-request-id",
  "x-ms-request-root-id",
  "x-span-id",
  "x-trace-id",
]);

const starts = [
  "x-b3-",
  "x-datadog-",
  "x-dynatrace",
  "x-instana-",
  "x-newrelic-",
  "x-ot-",
  "x-signalfx-",
  "ot-tracer-",
  "ot-baggage-",
  "uberctx-",
  "jaeger-",
  "sw8",
] as const;

/** True for a tracing header, given in lower case. The service reads `traceparent` of trusted proxies only (BOOT-54). */
export function isTracing(name: string): boolean {
  if (names.has(name)) return true;
  return /^[a-z0-9-]{1,64}$/.test(name) && starts.some((start) => name.startsWith(start));
}
