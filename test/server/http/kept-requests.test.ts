import assert from "node:assert/strict";
import { performance } from "node:perf_hooks";
import { describe, it } from "node:test";
import Type from "typebox";
import { createEntry } from "../../../server/http/pipeline/entry.ts";
import { RequestContext } from "../../../server/http/pipeline/request-context.ts";
import { RequestRecorder, slowMs } from "../../../server/http/pipeline/request-record.ts";
import {
  defineRoute,
  reply,
  stream,
  streamReply,
  type AnyRoute,
} from "../../../server/http/pipeline/route.ts";
import { parseConfig } from "../../../server/platform/config/config.ts";
import { AppError } from "../../../server/platform/errors.ts";
import { noFaults } from "../../../server/platform/faults/recorder.ts";
import { silentLogger } from "../../../server/platform/log/logger.ts";
import { createMetrics } from "../../../server/platform/metrics/metrics.ts";
import type { Origin } from "../../../server/platform/origin.ts";
import { noRequests, type EndedRequest } from "../../../server/platform/requests/tracker.ts";

class PlainContext extends RequestContext {
  send(): void {}
  openStream(): void {}
  partsOf(): [] {
    return [];
  }
  protected readAddress() {
    return { ip: "127.0.0.1", isFromProxy: false };
  }
}

const common = {
  method: "POST",
  tag: "Test",
  summary: "a route",
  auth: "public",
  source: "",
} as const;
const room = defineRoute({
  ...{ ...common, path: "/v1/rooms/{code}/pick", room: "lobby", errors: [] },
  params: Type.Object({ code: Type.String() }),
  responses: { 204: null },
  handler: () => reply(204),
});
const events = defineRoute({
  ...{ ...common, method: "GET", path: "/v1/events", errors: [] },
  responses: { 200: stream(Type.Object({})) },
  handler: () => streamReply(() => undefined),
});

describe("a request", () => {
  const metrics = createMetrics();
  const working = new Set<Origin>();
  const kept: EndedRequest[] = [];
  const requests = {
    ...noRequests,
    keep: (request: EndedRequest) => void kept.push(request),
    hasWork: (origin: Origin) => working.has(origin),
  };
  const recorder = new RequestRecorder(silentLogger, { metrics, faults: noFaults, requests });

  /** Ends a request of the route after this time. */
  function end(route: AnyRoute, status: number, { afterMs = 0, work = false } = {}) {
    kept.length = 0;
    const ctx = new PlainContext(route.method, "/v1/rooms/abc234/pick", "", null, () => undefined);
    ctx.identify();
    ctx.entry = createEntry(route, parseConfig({}), metrics, () => "");
    ctx.paramValues = ["abc234"];
    ctx.playerId = 7;
    if (status >= 500) ctx.refusal = new AppError("server:unavailable");
    if (work) working.add(ctx.origin);
    Object.assign(ctx, { startedAt: performance.now() - afterMs });
    recorder.record(ctx, status);
    return kept;
  }

  it("that succeeds at once is not kept, even if its work took the origin", () => {
    assert.equal(end(room, 204).length, 0);
    assert.equal(end(room, 404).length, 0);
  });

  it("that failed is kept with the pattern of its route, its code, player and room", () => {
    const [found] = end(room, 503);
    assert.deepEqual(
      [found?.method, found?.route, found?.status, found?.code, found?.playerId, found?.room],
      ["POST", "/v1/rooms/{code}/pick", 503, "server:unavailable", 7, "lobby ABC234"],
    );
  });

  it("that took over a second is kept, an event stream is not", () => {
    assert.equal(end(room, 204, { afterMs: slowMs + 1 })[0]?.status, 204);
    assert.equal(end(events, 200, { afterMs: slowMs + 1 }).length, 0);
  });

  it("that queued work is kept", () => {
    assert.equal(end(room, 204, { work: true })[0]?.code, null);
  });
});
