import type { Job } from "bullmq";
import { faultIn } from "../server/platform/faults/fault.ts";
import type { Origin } from "../server/platform/origin.ts";
import type { OpenSpan, Tracer } from "../server/platform/tracing/tracer.ts";

/**
 * The part of an attempt of a job in the trace of its origin. Not by `bullmq-otel`: it looks the context up, and stores the
 * words of errors (BOOT-54).
 */
export const startJobSpan = (
  tracer: Tracer,
  queue: string,
  job: Job,
  { traceparent, requestId }: Origin,
  startMs: number,
): OpenSpan =>
  tracer.start(`job ${queue}`, {
    kind: "consumer",
    parent: traceparent,
    startMs,
    facts: {
      "messaging.system": "bullmq",
      "messaging.destination.name": queue,
      "messaging.message.id": job.id ?? "",
      "emberline.job.attempt": job.attemptsMade + 1,
      ...(requestId === null ? {} : { "emberline.request.id": requestId }),
    },
  });

/** What the job causes goes back to its attempt. */
export const originOf = (origin: Origin, span: OpenSpan | null): Origin =>
  span === null ? origin : { ...origin, traceparent: span.traceparent };

/** The code or the class of an error, never its words (S27). */
export const errorNameOf = (error: unknown): string =>
  faultIn(error)?.code ?? (error instanceof Error ? error.name : "Error");
