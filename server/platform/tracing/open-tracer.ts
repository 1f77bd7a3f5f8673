import type { Config } from "../config/config.ts";
import type { Instance } from "../instance.ts";
import type { Logger } from "../log/logger.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { Tracer } from "./tracer.ts";

export interface TracerOptions {
  config: Pick<Config, "OTEL_EXPORTER_OTLP_ENDPOINT" | "OTEL_TRACES_SAMPLER_ARG">;
  instance: Instance;
  log: Logger;
  metrics: Pick<Metrics, "spans">;
}

/** Null without OTEL_EXPORTER_OTLP_ENDPOINT; then nothing of the libraries is loaded. */
export async function openTracer(options: TracerOptions): Promise<Tracer | null> {
  if (options.config.OTEL_EXPORTER_OTLP_ENDPOINT === "") return null;
  const { OtlpTracer } = await import("./otlp-tracer.ts");
  return new OtlpTracer(options);
}
