import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { VirtualFleet } from "./virtual-fleet.ts";

describe("the lobbies of a worker that is dead and whose connections are still open", () => {
  it("answer as soon as they are taken over, whenever they were asked", async () => {
    const fleet = new VirtualFleet();
    const [asker, , dying] = await fleet.calm("asker", "heir", "dying");
    assert.ok(asker && dying);
    const codes: string[] = [];
    for (let from = 0; codes.length < 100; from = Number(codes.at(-1)?.slice(1)) + 1)
      codes.push(fleet.codeOf("dying", from));
    // It hears what comes, and nobody reads it.
    dying.frozenUntil = Number.POSITIVE_INFINITY;
    const waits: number[] = [];
    const killedAt = fleet.now;
    for (const [i, code] of codes.entries()) {
      if (i === codes.length / 4) fleet.announceDeath(dying);
      const asked = fleet.now;
      void fleet.read(asker, code).then((reply) => {
        assert.deepEqual(reply, { ok: false, code: "lobby:not_found" });
        waits.push(fleet.now - Math.max(asked, killedAt));
      });
      await fleet.run(0.5);
    }
    await fleet.until(() => waits.length === codes.length);
    assert.ok(Math.max(...waits) < 150, `one waited ${Math.max(...waits)} ms`);
  });
});
