import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Reply } from "../../../actors/contract.ts";
import { shardOf } from "../../../actors/log/keys.ts";
import { unavailable } from "../../../actors/outcome.ts";
import { targetOwners } from "../../../actors/cluster/owners.ts";
import { maxWaiting } from "../../../actors/waiting-commands.ts";
import { VirtualFleet } from "./virtual-fleet.ts";

describe("the lobbies of a dead worker whose connections are still open", () => {
  it("answer as soon as they are taken over, whenever the command was sent", async () => {
    const fleet = new VirtualFleet();
    const [caller, , deadOwner] = await fleet.calm("caller", "nextOwner", "deadOwner");
    assert.ok(caller && deadOwner);
    const codes: string[] = [];
    for (let from = 0; codes.length < 100; from = Number(codes.at(-1)?.slice(1)) + 1)
      codes.push(fleet.codeOf("deadOwner", from));
    // It accepts connections, but nothing reads them.
    deadOwner.frozenUntil = Number.POSITIVE_INFINITY;
    const waits: number[] = [];
    const killedAt = fleet.now;
    for (const [i, code] of codes.entries()) {
      if (i === codes.length / 4) fleet.publishNodeDown(deadOwner);
      const asked = fleet.now;
      void fleet.read(caller, code).then((reply) => {
        assert.deepEqual(reply, { ok: false, code: "lobby:not_found" });
        waits.push(fleet.now - Math.max(asked, killedAt));
      });
      await fleet.run(0.5);
    }
    await fleet.until(() => waits.length === codes.length);
    assert.ok(Math.max(...waits) < 150, `one waited ${Math.max(...waits)} ms`);
  });

  it("are awaited by a limited number of commands in a worker, and one more is refused at once", async () => {
    const fleet = new VirtualFleet();
    const [caller, nextOwner, deadOwner] = await fleet.calm("caller", "nextOwner", "deadOwner");
    assert.ok(caller && nextOwner && deadOwner);
    nextOwner.frozenUntil = Number.POSITIVE_INFINITY;
    fleet.kill(deadOwner);
    fleet.publishNodeDown(deadOwner);
    const wanted = targetOwners(["caller", "nextOwner"]);
    const codes: string[] = [];
    for (let from = 0; codes.length < 512;) {
      const code = fleet.codeOf("deadOwner", from);
      if (wanted[shardOf(code)] === "nextOwner") codes.push(code);
      from = Number(code.slice(1)) + 1;
    }
    const replies = new Map<string, number>();
    const count = (reply: Reply) => {
      const name = reply.ok ? "ok" : reply.code;
      replies.set(name, (replies.get(name) ?? 0) + 1);
    };
    await fleet.run(100);
    for (let i = 0; i < maxWaiting; i++)
      void fleet.read(caller, codes[i % codes.length] ?? "").then(count);
    await fleet.run(1);
    assert.equal(replies.size, 0);
    const before = fleet.now;
    const reply = await fleet.ended(fleet.read(caller, codes[0] ?? ""));
    assert.deepEqual(reply, unavailable);
    assert.ok(fleet.now - before < 5, "it was refused at once");
    // The next owner is found missing in time, and waiting commands are answered by its successor.
    await fleet.until(() => replies.size > 0, 20);
    await fleet.run(1_000);
    assert.deepEqual([...replies], [["lobby:not_found", maxWaiting]]);
  });
});
