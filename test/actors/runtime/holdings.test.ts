import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { lobbyKeyspace } from "../../../actors/lobby-keys.ts";
import { createHoldings, type Holdings } from "../../../actors/runtime/placement/holdings.ts";

const shard = 7;
const settled = () => new Promise<void>((done) => setImmediate(done));

/** The holdings of a worker `me`, and the answers to its looks at the map, which the test gives. */
function slowMap() {
  const looks: ((record: string) => void)[] = [];
  /** Of each claim, whether the claimer said that nobody else had had the shard. */
  const outlived: unknown[] = [];
  const forgotten: number[] = [];
  const redis = {
    mget: () =>
      new Promise<string[]>((answer) => {
        looks.push((record) => answer([record]));
      }),
    // The claim has four keys, the release one.
    async evalsha(_sha: string, keyCount: number, ...args: unknown[]) {
      if (keyCount !== 4) return 1;
      outlived.push(args.at(-1));
      return ["me|1", "0"];
    },
  };
  const holdings: Holdings = createHoldings({
    incarnation: "me",
    keys: lobbyKeyspace,
    redis: redis as never,
    shards: [shard],
    hooks: {
      claimed() {},
      deadline() {},
      loaded() {},
      closing: async () => {},
      lost: (lost, isOutlived) => void (isOutlived || forgotten.push(lost)),
    },
  });
  return { holdings, looks, outlived, forgotten };
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

  it("tells a shard that was lost with the store from one that somebody else has had since", async () => {
    const { holdings, looks, outlived, forgotten } = slowMap();
    const mine = { shard, owner: { incarnation: "me", token: "me|1" } };
    const look = async (record: string) => {
      const loading = holdings.reload();
      looks.at(-1)?.(record);
      await loading;
    };
    await holdings.claim([{ shard, owner: null }]);
    holdings.loseAll(true);
    // Told once more that it is not counted, before it could take anything.
    holdings.loseAll(true);
    await look("me|1");
    await holdings.claim([mine]);
    assert.deepEqual([outlived, forgotten], [[0, 1], []]);
    holdings.loseAll(true);
    await look("other|2");
    await look("me|1");
    await holdings.claim([mine]);
    assert.deepEqual([outlived, forgotten], [[0, 1, 0], [shard]]);
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
