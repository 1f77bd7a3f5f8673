import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Connections } from "../../../actors/log/connection.ts";
import { shardCount } from "../../../actors/log/keys.ts";
import { defaultTimings } from "../../../actors/timing.ts";
import { VirtualFleet } from "./virtual-fleet.ts";
import { ownerKey } from "../../support/lobby-keys.ts";

const slice = Math.ceil(shardCount / 10);

describe("workers that rebalance their shards", () => {
  for (const failure of ["dies unnoticed", "freezes"] as const)
    it(`keep shards without a new owner when a joining worker ${failure} after the first batch`, async () => {
      const fleet = new VirtualFleet();
      const [owner] = await fleet.calm("giver");
      const joining = await fleet.start("joiner");
      await fleet.join(joining);
      await fleet.until(() => fleet.vacancies.most > 0);
      if (failure === "freezes") joining.frozenUntil = fleet.now + 6_000;
      else fleet.kill(joining);
      let refused = 0;
      for (let i = 0; i < 60; i++) {
        assert.ok(owner);
        void fleet.read(owner, `V${i}`).then((reply) => {
          if (!reply.ok && reply.code !== "lobby:not_found") refused += 1;
        });
        await fleet.run(100);
      }
      assert.equal(refused, 0, "commands that found no owner");
      assert.ok(fleet.vacancies.most <= slice, `${fleet.vacancies.most} shards were free at once`);
      const { longestMs } = fleet.vacancies;
      assert.ok(longestMs < 700, `a shard was free for ${longestMs} ms`);
    });

  it("offer a shard again after a pause when no worker took it", async () => {
    const fleet = new VirtualFleet();
    await fleet.calm("giver");
    const joining = await fleet.start("joiner");
    await fleet.join(joining);
    await fleet.until(() => fleet.vacancies.most > 0);
    joining.frozenUntil = fleet.now + 800;
    const shares = () => fleet.shares()["joiner"] ?? 0;
    await fleet.run(defaultTimings.deadMs);
    assert.equal(shares(), 0);
    await fleet.run(defaultTimings.reloadMs);
    assert.ok(shares() > shardCount / 3, `it has ${shares()}`);
  });

  it("retry the claim of a shard that was released between the read and the claim", async () => {
    const fleet = new VirtualFleet();
    const [deadOwner] = await fleet.calm("deadOwner");
    const released = ownerKey(7);
    let isReleased = false;
    const releaseFirst = (connections: Connections): Connections => {
      const { control } = connections;
      const evalsha: typeof control.evalsha = (sha, count, ...args) => {
        if (args[0] === released && !isReleased && args[1] === "{7}:epoch") {
          isReleased = true;
          fleet.redis.set(released, "");
        }
        return control.evalsha(sha, count, ...args);
      };
      return { ...connections, control: { ...control, evalsha } };
    };
    assert.ok(deadOwner);
    fleet.kill(deadOwner);
    fleet.publishNodeDown(deadOwner);
    const nextOwner = await fleet.start("nextOwner", releaseFirst);
    await fleet.join(nextOwner);
    await fleet.run(100);
    assert.ok(isReleased);
    assert.deepEqual(fleet.shares(), { nextOwner: shardCount });
  });
});
