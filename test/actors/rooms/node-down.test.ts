import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Keyspace, publishNodeDown } from "../../../actors/index.ts";
import { silentLogger } from "../../../server/platform/log/logger.ts";

describe("a node-down notice", () => {
  const { workers, deadChannel } = new Keyspace("counter:");
  const ways: Record<string, string> = { zrem: workers, publish: deadChannel };

  for (const failing of ["zrem", "publish"])
    it(`still reaches the other nodes of its kind when ${failing} fails`, async () => {
      const sent: string[][] = [];
      const send = async (way: string, ...args: string[]) => {
        if (way === failing) throw new Error("CLUSTERDOWN");
        sent.push([way, ...args]);
      };
      const redis = {
        zrem: (...args: string[]) => send("zrem", ...args),
        publish: (...args: string[]) => send("publish", ...args),
      };
      const node = { keyPrefix: "counter:", nodeId: "w1" };
      await publishNodeDown(redis as never, node, silentLogger);
      const other = failing === "zrem" ? "publish" : "zrem";
      assert.deepEqual(sent, [[other, ways[other], "w1"]]);
    });
});
