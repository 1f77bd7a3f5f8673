import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { lobbyKeyspace } from "../../../actors/lobby-keys.ts";
import { ShardOwnership } from "../../../actors/runtime/placement/shard-ownership.ts";

const shard = 7;
const settled = () => new Promise<void>((done) => setImmediate(done));

/** The ownership of a worker `me`; the test supplies the replies to its reads of the map. */
function slowMap() {
  const looks: ((record: string) => void)[] = [];
  /** For each claim, whether the claimer said that nobody else had owned the shard. */
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
  const ownership = new ShardOwnership({
    incarnation: "me",
    keys: lobbyKeyspace,
    redis: redis as never,
    shards: [shard],
    listener: {
      acquired() {},
      released: (lost, isRetained) => void (isRetained || forgotten.push(lost)),
    },
    actors: { drain: async () => {}, restoreDeadline() {} },
    onMapLoaded() {},
  });
  return { ownership, looks, outlived, forgotten };
}

describe("the owner map of a worker", () => {
  it("does not count a shard as its own that was released while the map was loading", async () => {
    const { ownership, looks } = slowMap();
    await ownership.claim([{ shard, owner: null }]);
    const loading = ownership.reload();
    await ownership.release(shard);
    looks[0]?.("me|1");
    await loading;
    assert.equal(ownership.isStaleLease(shard), false);
  });

  it("distinguishes a shard lost with Redis from a shard that another worker has owned since", async () => {
    const { ownership, looks, outlived, forgotten } = slowMap();
    const mine = { shard, owner: { incarnation: "me", token: "me|1" } };
    const look = async (record: string) => {
      const loading = ownership.reload();
      looks.at(-1)?.(record);
      await loading;
    };
    await ownership.claim([{ shard, owner: null }]);
    ownership.loseAll(true);
    // Another reply that it is not registered, before it could claim anything.
    ownership.loseAll(true);
    await look("me|1");
    await ownership.claim([mine]);
    assert.deepEqual([outlived, forgotten], [[0, 1], []]);
    ownership.loseAll(true);
    await look("other|2");
    await look("me|1");
    await ownership.claim([mine]);
    assert.deepEqual([outlived, forgotten], [[0, 1, 0], [shard]]);
  });

  it("is loaded once more for all callers that asked while it was loading", async () => {
    const { ownership, looks } = slowMap();
    const first = ownership.reload();
    const later = [ownership.reload(), ownership.reload()];
    looks[0]?.("old|1");
    await first;
    await settled();
    assert.equal(looks.length, 2, "looks");
    looks[1]?.("new|2");
    await Promise.all(later);
    assert.equal(ownership.ownerOf(shard)?.incarnation, "new");
  });
});
