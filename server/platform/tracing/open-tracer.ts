import type { TracerOptions } from "./otlp-tracer.ts";
import type { Tracer } from "./tracer.ts";

/** Null without OTEL_EXPORTER_OTLP_ENDPOINT; then nothing of the libraries is loaded. */
export async function openTracer(options: TracerOptions): Promise<Tracer | null> {
  if (options.config.OTEL_EXPORTER_OTLP_ENDPOINT === "") return null;
  const { OtlpTracer } = await import("./otlp-tracer.ts");
  return new OtlpTracer(options);
}
