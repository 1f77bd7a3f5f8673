import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { lobbyKeyspace } from "../../../actors/lobby/keys.ts";
import { createMetrics } from "../../../server/platform/metrics/metrics.ts";
import { Leases } from "../../../actors/cluster/leases.ts";

const shard = 7;
const settled = () => new Promise<void>((done) => setImmediate(done));

/** The leases of a worker `me`; the test supplies the replies to its reads of the map. */
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
  const leases = new Leases({
    nodeId: "me",
    processName: "http-0@me",
    keys: lobbyKeyspace,
    redis: redis as never,
    shards: [shard],
    membership: {
      causeOf: () => "rebalanced",
      isDead: () => false,
      isFresh: () => true,
      portOf: () => null,
    },
    metrics: createMetrics().rooms("lobby"),
  });
  leases.released.on((lost, isRetained) => void (isRetained || released.push(lost)));
  return { leases, reads, claimArgs, released };
}

describe("the owner map of a worker", () => {
  it("does not count a shard as its own that was released while the map was loading", async () => {
    const { leases, reads } = slowMap();
    await leases.claim([{ shard, owner: null }]);
    const loading = leases.reload();
    await leases.release(shard);
    reads[0]?.("me|1");
    await loading;
    assert.equal(leases.isStaleLease(shard), false);
  });

  it("distinguishes a shard lost with Redis from a shard that another worker has owned since", async () => {
    const { leases, reads, claimArgs, released } = slowMap();
    const mine = { shard, owner: { nodeId: "me", token: "me|1" } };
    const reloadWith = async (record: string) => {
      const loading = leases.reload();
      reads.at(-1)?.(record);
      await loading;
    };
    await leases.claim([{ shard, owner: null }]);
    leases.loseAll(true);
    // Another reply that it is not registered, before it could claim anything.
    leases.loseAll(true);
    await reloadWith("me|1");
    await leases.claim([mine]);
    assert.deepEqual([claimArgs, released], [[0, 1], []]);
    leases.loseAll(true);
    await reloadWith("other|2");
    await reloadWith("me|1");
    await leases.claim([mine]);
    assert.deepEqual([claimArgs, released], [[0, 1, 0], [shard]]);
  });

  it("is loaded once more for all callers that asked while it was loading", async () => {
    const { leases, reads } = slowMap();
    const first = leases.reload();
    const later = [leases.reload(), leases.reload()];
    reads[0]?.("old|1");
    await first;
    await settled();
    assert.equal(reads.length, 2, "reads of the map");
    reads[1]?.("new|2");
    await Promise.all(later);
    assert.equal(leases.ownerOf(shard)?.nodeId, "new");
  });
});
