import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { RequestTimeline } from "../../../../server/features/requests/domain/timeline.ts";
import { requestRoutes, type RequestsDeps } from "../../../../server/operator/requests/routes.ts";
import { answerOf } from "../call-route.ts";

const attack = `<img src=x onerror="alert(1)">`;
const at = Date.UTC(2026, 2, 1, 12);

/** A timeline whose texts of others are all the same. */
const timeline = (text: string): RequestTimeline => ({
  ...{ id: "request-1", olderThanMs: at, numDropped: 0, hasRequests: true, hasMessages: true },
  requests: [
    {
      ...{ atMs: at + 20_001, method: "POST", route: "/v1/x/{code}", status: 503, code: text },
      ...{ ms: 20_001, playerId: 7, room: text, process: text },
    },
  ],
  jobs: [
    {
      ...{ queue: text, id: text, state: "failed", numAttempts: 2, maxAttempts: 2 },
      ...{
        createdAtMs: at + 1_000,
        startedAtMs: at + 2_000,
        finishedAtMs: at + 4_000,
        failedReason: text,
      },
      ...{ result: text, log: [`${new Date(at + 3_500).toISOString()} attempt 1: ${text}`, text] },
      origin: { requestId: "request-0", playerId: null, room: null },
    },
  ],
  failures: [
    {
      ...{
        id: "1-00000000000000aa",
        firstMs: at,
        lastMs: at,
        total: 1,
        periods: [],
        periodsFromMs: at,
      },
      ...{ numPlayers: 0, numJobs: 0, jobsFromMs: null },
      key: {
        ...{ kind: "job", place: text, code: "x.y", peer: text, status: 500 },
        ...{ name: null, text: null, source: null },
      },
      example: {
        ...{ atMs: at, text, stack: text, requestId: null, playerId: null, room: null },
        ...{ job: null, process: text },
      },
    },
  ],
  messages: [
    {
      ...{ id: 1, kind: "mail", template: text, to: text, status: "failed", attempts: 1 },
      ...{ lastError: text, createdAtMs: at + 2_000, sentAtMs: null },
    },
  ],
  audited: [{ atMs: at + 5_000, operator: text, action: text, target: text, reason: text }],
});

const pageOf = async (text: string) => {
  const deps: RequestsDeps = { timelineOf: async () => timeline(text) };
  const headers = { accept: "text/html" };
  const path = "/operator/requests/request-1";
  return (await answerOf<RequestsDeps, unknown>(requestRoutes, deps, path, { headers })).text;
};

describe("the page of a request", () => {
  it("shows its entries in the order of their times, with links", async () => {
    const page = await pageOf("words");
    const names = [...page.matchAll(/<\/time><\/td>\s*<td>([^<]+)<\/td>/g)].map(([, name]) => name);
    assert.deepEqual(names, [
      ...["request", "job queued", "attempt", "message", "attempt", "job", "change"],
    ]);
    for (const link of ["failures/1-00000000000000aa", "jobs/words/words", "players/7"])
      assert.ok(page.includes(`href="/operator/${link}"`), link);
    assert.ok(page.includes(`href="/operator/requests/request-0"`));
  });

  it("shows texts of others as texts", async () => {
    const page = await pageOf(attack);
    assert.ok(page.includes("onerror"));
    assert.ok(!page.includes("<img"));
  });
});
