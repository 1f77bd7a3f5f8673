import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { announceDeath } from "../../server/boot/death-notice.ts";
import { silentLogger } from "../../server/core/logger.ts";

describe("the death of a process", () => {
  for (const failing of ["zrem", "publish"])
    it(`is told in the other way when ${failing} fails`, async () => {
      const told: string[] = [];
      const tell = async (way: string) => {
        if (way === failing) throw new Error("CLUSTERDOWN");
        told.push(way);
      };
      const redis = { zrem: () => tell("zrem"), publish: () => tell("publish") };
      await announceDeath(redis as never, "w1", silentLogger);
      assert.deepEqual(told, [failing === "zrem" ? "publish" : "zrem"]);
    });
});
