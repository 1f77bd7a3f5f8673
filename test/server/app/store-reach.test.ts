import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { StoreReach } from "../../../server/app/store-reach.ts";

function setUp() {
  let now = 0;
  const pending: PromiseWithResolvers<boolean>[] = [];
  const limits: number[] = [];
  const away: string[] = [];
  const reach = new StoreReach(
    {
      postgres: (limitMs) => {
        limits.push(limitMs);
        const check = Promise.withResolvers<boolean>();
        pending.push(check);
        return check.promise;
      },
      redis: async () => true,
    },
    (store) => away.push(store),
    () => now,
  );
  return { reach, pending, limits, away, pass: (ms: number) => (now += ms) };
}

describe("what a worker knows of the stores", () => {
  it("is the time since each answered, and null for one that never did", async (t) => {
    const { reach, pending, pass } = setUp();
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const first = reach.ages();
    t.mock.timers.tick(800);
    assert.deepEqual(await first, { postgres: null, redis: 0 });
    pending[0]?.resolve(true);
    await new Promise((done) => setImmediate(done));
    pass(2_000);
    const second = reach.ages();
    t.mock.timers.tick(800);
    assert.deepEqual(await second, { postgres: 2_000, redis: 0 });
  });

  it("is reported at each question while a store is away", async (t) => {
    const { reach, pending, away, pass } = setUp();
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const first = reach.ages();
    pending[0]?.resolve(true);
    await first;
    for (const ms of [4_999, 1, 2_000]) {
      pass(ms);
      const answer = reach.ages();
      t.mock.timers.tick(800);
      await answer;
    }
    assert.deepEqual(away, ["postgres", "postgres"]);
  });

  it("comes from one check at a time, which waits long in the queue of a busy pool", async (t) => {
    const { reach, pending, limits } = setUp();
    t.mock.timers.enable({ apis: ["setTimeout"] });
    for (let i = 0; i < 3; i++) {
      const answer = reach.ages();
      t.mock.timers.tick(800);
      await answer;
    }
    assert.deepEqual(limits, [10_000]);
    pending[0]?.resolve(false);
    await new Promise((done) => setImmediate(done));
    const answer = reach.ages();
    pending[1]?.resolve(true);
    assert.deepEqual(await answer, { postgres: 0, redis: 0 });
  });
});
