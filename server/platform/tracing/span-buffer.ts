import type { ReadableSpan, SpanExporter, SpanProcessor } from "@opentelemetry/sdk-trace";
import type { Logger } from "../log/logger.ts";
import type { Metrics } from "../metrics/metrics.ts";

/** Spans that wait in a process at most, those on their way included. */
export const maxSpans = 2_048;

export interface SpanBufferOptions {
  exporter: SpanExporter;
  log: Logger;
  spans: Metrics["spans"];
}

/** Bounds the spans of a process and counts what becomes of them: the library drops without a word. */
export class SpanBuffer {
  readonly #options: SpanBufferOptions;
  #numWaiting = 0;
  #isFailing = false;

  constructor(options: SpanBufferOptions) {
    this.#options = options;
    for (const outcome of ["sent", "dropped"]) options.spans.inc({ outcome }, 0);
  }

  /** `make`: the processor that sends batches to the given exporter, with room for as many spans. */
  inFrontOf(make: (exporter: SpanExporter, max: number) => SpanProcessor): SpanProcessor {
    const { exporter, spans } = this.#options;
    const inner = make(
      {
        export: (batch, done) =>
          exporter.export(batch, (result) => {
            // The code of a success.
            this.#settle(batch.length, result.code === 0);
            done(result);
          }),
        shutdown: () => exporter.shutdown(),
      },
      maxSpans,
    );
    return {
      onStart: (span, context) => inner.onStart(span, context),
      onEnd: (span: ReadableSpan) => {
        if (this.#numWaiting >= maxSpans) return spans.inc({ outcome: "dropped" });
        this.#numWaiting += 1;
        inner.onEnd(span);
      },
      forceFlush: () => inner.forceFlush(),
      shutdown: () => inner.shutdown(),
    };
  }

  #settle(number: number, isSent: boolean): void {
    const { spans, log } = this.#options;
    this.#numWaiting -= number;
    spans.inc({ outcome: isSent ? "sent" : "dropped" }, number);
    if (this.#isFailing !== isSent) return;
    this.#isFailing = !isSent;
    if (isSent) log.info({ event: "spans_sent" }, "the collector takes spans again");
    else
      log.warn(
        { event: "spans_dropped", num_dropped: number },
        "the collector took no spans; nothing else depends on it",
      );
  }
}
