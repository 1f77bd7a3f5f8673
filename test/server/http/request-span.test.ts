import assert from "node:assert/strict";
import { it } from "node:test";
import type { RequestContext } from "../../../server/http/pipeline/request-context.ts";
import { spanOf } from "../../../server/http/pipeline/request-span.ts";
import type { SpanStart } from "../../../server/platform/tracing/tracer.ts";

it("the trace of a request goes on one of a trusted proxy only", () => {
  const started: SpanStart[] = [];
  const tracer = {
    start: (_name: string, about: SpanStart) => {
      started.push(about);
      return { traceparent: "", end: () => undefined };
    },
    stop: async () => undefined,
  };
  const traceparent = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
  for (const isFromProxy of [true, false]) {
    const ctx = {
      entry: null,
      headers: { traceparent },
      startedAt: 1,
      id: "request-1",
      isFromProxy,
    };
    spanOf({ ...ctx, method: "GET" } as unknown as RequestContext, tracer);
  }
  assert.deepEqual(
    started.map(({ parent }) => parent),
    [traceparent, undefined],
  );
});
