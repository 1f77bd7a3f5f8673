import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createHoldings, type Holdings } from "../../../actors/runtime/holdings.ts";

const shard = 7;
const settled = () => new Promise<void>((done) => setImmediate(done));

/** The holdings of a worker `me`, and the answers to its looks at the map, which the test gives. */
function slowMap(): { holdings: Holdings; looks: ((record: string) => void)[] } {
  const looks: ((record: string) => void)[] = [];
  const redis = {
    mget: () =>
      new Promise<string[]>((answer) => {
        looks.push((record) => answer([record]));
      }),
    // The claim has four keys, the release one.
    evalsha: async (_sha: string, keyCount: number) => (keyCount === 4 ? ["me|1", "0"] : 1),
  };
  const holdings = createHoldings({
    incarnation: "me",
    redis: redis as never,
    shards: [shard],
    hooks: { claimed() {}, deadline() {}, closing: async () => {}, lost() {} },
  });
  return { holdings, looks };
}

describe("the owner map of a worker", () => {
  it("does not count as its own what it released while the map was on its way", async () => {
    const { holdings, looks } = slowMap();
    await holdings.claim([{ shard, owner: null }]);
    const loading = holdings.reload();
    await holdings.release(shard);
    looks[0]?.("me|1");
    await loading;
    assert.equal(holdings.isOrphan(shard), false);
  });

  it("is looked at once more for all who asked while it was on its way", async () => {
    const { holdings, looks } = slowMap();
    const first = holdings.reload();
    const later = [holdings.reload(), holdings.reload()];
    looks[0]?.("old|1");
    await first;
    await settled();
    assert.equal(looks.length, 2, "looks");
    looks[1]?.("new|2");
    await Promise.all(later);
    assert.equal(holdings.ownerOf(shard)?.incarnation, "new");
  });
});
