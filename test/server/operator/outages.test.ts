import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { bytesReply, type Reply } from "../../../server/http/pipeline/route.ts";
import type { StoreStates } from "../../../server/operator/health/stores.ts";
import { waitForPage } from "../../../server/operator/outages/page.ts";
import { OutageWatch } from "../../../server/operator/outages/watch.ts";
import { manualClock } from "../../support/clock.ts";

const there = { postgres: "ok", redis: "ok" } as const;

function setUp() {
  const clock = manualClock();
  const now: { stores: StoreStates; processes: unknown } = { stores: there, processes: [1] };
  const watch = new OutageWatch({
    stores: async () => now.stores,
    processes: async () => now.processes,
    clock,
  });
  return { clock, now, watch };
}

describe("what operator pages know to be away", () => {
  it("begins when the primary last saw it, or else when a page has missed it first", async () => {
    const { clock, now, watch } = setUp();
    now.stores = { postgres: "away", redis: "away" };
    now.processes = null;
    watch.publish({ postgres: null, redis: 4_000 });
    const found = await watch.poll();
    const sinceMs = clock.now();
    assert.deepEqual(found, [
      { part: "postgres", sinceMs },
      { part: "redis", sinceMs: 4_000 },
      { part: "primary", sinceMs },
    ]);
    clock.advance(5_000);
    assert.deepEqual(await watch.poll(), found);
  });

  it("ends with the first answer, what the primary publishes, or 15 seconds without a question", async () => {
    const { clock, now, watch } = setUp();
    now.stores = { postgres: "away", redis: "away" };
    watch.publish({ postgres: 4_000, redis: 4_000 });
    await watch.stores();
    watch.publish({ postgres: null, redis: 4_000 });
    assert.deepEqual(watch.known(), [{ part: "redis", sinceMs: 4_000 }]);
    now.stores = there;
    await watch.stores();
    assert.deepEqual(watch.known(), []);
    now.processes = [];
    await watch.processes();
    clock.advance(14_999);
    assert.deepEqual(
      watch.known().map(({ part }) => part),
      ["primary"],
    );
    clock.advance(1);
    assert.deepEqual(watch.known(), []);
  });
});

describe("a page that is late", () => {
  const late = () => Promise.withResolvers<Reply>();
  /** The page after its limit, once the question for what is away is answered. */
  const waiting = async (watch: OutageWatch, page: Promise<Reply>, tick: (ms: number) => void) => {
    const shown = waitForPage(watch, { startedAt: performance.now() }, page);
    shown.catch(() => undefined);
    tick(2_100);
    await new Promise((done) => setImmediate(done));
    return shown;
  };

  it("is waited for while nothing is away", async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const { watch } = setUp();
    const { promise, resolve } = late();
    const shown = waiting(watch, promise, (ms) => t.mock.timers.tick(ms));
    const reply = bytesReply(200, "text/html", "slow");
    setImmediate(() => setImmediate(() => resolve(reply)));
    assert.equal(await shown, reply);
  });

  it("is given up once something is away", async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const { now, watch } = setUp();
    now.stores = { postgres: "away", redis: "ok" };
    const shown = waiting(watch, late().promise, (ms) => t.mock.timers.tick(ms));
    await assert.rejects(shown, { code: "server:unavailable" });
  });
});
