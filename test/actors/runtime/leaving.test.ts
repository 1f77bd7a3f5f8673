import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { shardCount } from "../../../actors/runtime/keys.ts";
import { VirtualFleet } from "./virtual-fleet.ts";

const slice = Math.ceil(shardCount / 10);

describe("a worker that leaves", () => {
  it("goes on waiting for the others when it does not see them yet after a long silence", async () => {
    const fleet = new VirtualFleet();
    const [leaver, other] = await fleet.calm("leaver", "other");
    assert.ok(leaver && other);
    const code = fleet.codeOf("leaver");
    // The machine stands still, and the leaver has its turn first.
    leaver.frozenUntil = fleet.now + 2_500;
    other.frozenUntil = fleet.now + 2_800;
    await fleet.run(2_520);
    const leaving = leaver.lobbies.handOver();
    const reply = await fleet.ended(fleet.read(leaver, code));
    await fleet.ended(leaving);
    assert.deepEqual(reply, { ok: false, code: "lobby:not_found" });
    assert.ok(fleet.vacancies.most <= slice, `${fleet.vacancies.most} shards were free at once`);
    assert.deepEqual(fleet.shares(), { other: shardCount });
  });
});
