import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { lobbyKeyspace } from "../../../actors/lobby-keys.ts";
import { ShardOwnership } from "../../../actors/runtime/placement/shard-ownership.ts";

const shard = 7;
const settled = () => new Promise<void>((done) => setImmediate(done));

/** The ownership of a worker `me`; the test supplies the replies to its reads of the map. */
function slowMap() {
  const reads: ((record: string) => void)[] = [];
  /** For each claim, whether the claimer states that nobody else has owned the shard since. */
  const claimArgs: unknown[] = [];
  const released: number[] = [];
  const redis = {
    mget: () =>
      new Promise<string[]>((answer) => {
        reads.push((record) => answer([record]));
      }),
    // The claim has five keys, the release one.
    async evalsha(_sha: string, keyCount: number, ...args: unknown[]) {
      if (keyCount !== 5) return 1;
      claimArgs.push(args[keyCount + 2]);
      return ["me|1", "0"];
    },
  };
  const ownership = new ShardOwnership({
    nodeId: "me",
    processName: "http-0@me",
    keys: lobbyKeyspace,
    redis: redis as never,
    shards: [shard],
    listener: {
      acquired() {},
      released: (lost, isRetained) => void (isRetained || released.push(lost)),
    },
    actors: { drain: async () => {}, restoreDeadline() {} },
    onMapLoaded() {},
    causeOf: () => "rebalanced",
    onClaimed() {},
  });
  return { ownership, reads, claimArgs, released };
}

describe("the owner map of a worker", () => {
  it("does not count a shard as its own that was released while the map was loading", async () => {
    const { ownership, reads } = slowMap();
    await ownership.claim([{ shard, owner: null }]);
    const loading = ownership.reload();
    await ownership.release(shard);
    reads[0]?.("me|1");
    await loading;
    assert.equal(ownership.isStaleLease(shard), false);
  });

  it("distinguishes a shard lost with Redis from a shard that another worker has owned since", async () => {
    const { ownership, reads, claimArgs, released } = slowMap();
    const mine = { shard, owner: { nodeId: "me", token: "me|1" } };
    const reloadWith = async (record: string) => {
      const loading = ownership.reload();
      reads.at(-1)?.(record);
      await loading;
    };
    await ownership.claim([{ shard, owner: null }]);
    ownership.loseAll(true);
    // Another reply that it is not registered, before it could claim anything.
    ownership.loseAll(true);
    await reloadWith("me|1");
    await ownership.claim([mine]);
    assert.deepEqual([claimArgs, released], [[0, 1], []]);
    ownership.loseAll(true);
    await reloadWith("other|2");
    await reloadWith("me|1");
    await ownership.claim([mine]);
    assert.deepEqual([claimArgs, released], [[0, 1, 0], [shard]]);
  });

  it("is loaded once more for all callers that asked while it was loading", async () => {
    const { ownership, reads } = slowMap();
    const first = ownership.reload();
    const later = [ownership.reload(), ownership.reload()];
    reads[0]?.("old|1");
    await first;
    await settled();
    assert.equal(reads.length, 2, "reads of the map");
    reads[1]?.("new|2");
    await Promise.all(later);
    assert.equal(ownership.ownerOf(shard)?.nodeId, "new");
  });
});
