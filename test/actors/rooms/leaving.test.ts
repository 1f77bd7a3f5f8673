import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { shardCount } from "../../../actors/log/keys.ts";
import { VirtualFleet } from "./virtual-fleet.ts";
import { workersKey } from "../../support/lobby-keys.ts";

const slice = Math.ceil(shardCount / 10);

describe("a worker that leaves", () => {
  it("goes on waiting for the others when it does not see them yet after a long silence", async () => {
    const fleet = new VirtualFleet();
    const [leaver, other] = await fleet.calm("leaver", "other");
    assert.ok(leaver && other);
    const code = fleet.codeOf("leaver");
    // The machine stalls, and the leaving node runs first.
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

  it("gives no further slice before the last one is taken, and serves the rest meanwhile", async () => {
    const fleet = new VirtualFleet();
    const [leaver, other] = await fleet.calm("leaver", "other");
    assert.ok(leaver && other);
    const leaving = leaver.lobbies.handOver();
    await fleet.until(() => fleet.vacancies.most > 0);
    other.frozenUntil = fleet.now + 1_600;
    await fleet.run(1_500);
    const reply = await fleet.ended(fleet.read(leaver, fleet.codeOf("leaver")));
    assert.deepEqual(reply, { ok: false, code: "lobby:not_found" });
    await fleet.ended(leaving);
    assert.ok(fleet.vacancies.most <= slice, `${fleet.vacancies.most} shards were free at once`);
    assert.deepEqual(fleet.shares(), { other: shardCount });
  });

  it("waits five seconds in all for those who take nothing, who then take what is left", async () => {
    const fleet = new VirtualFleet();
    const [leaver, other] = await fleet.calm("leaver", "other");
    assert.ok(leaver && other);
    const from = fleet.now;
    // It only sends heartbeats.
    other.wiring.stall("control", 8_000);
    const heartbeat = () => fleet.redis.zadd(workersKey, fleet.redis.now(), "other");
    for (let ms = 0; ms < 8_000; ms += 500) fleet.timeline.add(from + ms, null, heartbeat);
    await fleet.ended(leaver.lobbies.stop());
    const took = fleet.now - from;
    assert.ok(took > 4_900 && took < 5_600, `${took} ms`);
    await fleet.until(() => fleet.shares()["other"] === shardCount);
  });

  it("goes on giving slices after the store was away for a moment", async () => {
    for (const breaksAfterMs of [0, 15, 40]) {
      const fleet = new VirtualFleet();
      const [leaver] = await fleet.calm("leaver", "other");
      assert.ok(leaver);
      const leaving = leaver.lobbies.handOver();
      await fleet.run(breaksAfterMs);
      leaver.wiring.cut(false);
      await fleet.ended(leaving);
      assert.deepEqual(fleet.shares(), { other: shardCount }, `broken after ${breaksAfterMs} ms`);
      assert.ok(fleet.vacancies.most <= slice, `${fleet.vacancies.most} shards were free at once`);
    }
  });

  it("is known to leave also by those whom no message of it reached", async () => {
    // Before, between and after the heartbeats that announce it.
    for (const laterMs of [0, 100, 200, 300, 400]) {
      const fleet = new VirtualFleet();
      const [leaver, , disconnected] = await fleet.calm("leaver", "other", "deaf");
      assert.ok(leaver && disconnected);
      await fleet.run(laterMs);
      fleet.deafen(disconnected, 60);
      const from = fleet.now;
      await fleet.ended(leaver.lobbies.handOver());
      assert.ok(fleet.now - from < 1_200, `the hand-over took ${fleet.now - from} ms`);
      assert.deepEqual(fleet.shares()["leaver"] ?? 0, 0);
      const { longestMs } = fleet.vacancies;
      assert.ok(longestMs < 600, `a shard was free for ${longestMs} ms`);
    }
  });

  it("leaves nothing behind when it is stopped while it joins", async () => {
    for (const afterMs of [0, 0.4, 1, 1.6, 2.4, 4]) {
      const fleet = new VirtualFleet();
      await fleet.calm("other");
      const joiner = await fleet.start("joiner");
      const joining = joiner.lobbies.join();
      await fleet.run(afterMs);
      await fleet.ended(joiner.lobbies.stop());
      await fleet.ended(joining);
      await fleet.run(10_000);
      const alive = fleet.redis.zrange(workersKey).map(([worker]) => worker);
      assert.deepEqual(alive, ["other"], `stopped after ${afterMs} ms`);
      assert.deepEqual(fleet.shares(), { other: shardCount });
    }
  });

  it("is left by nobody before the hand-over is through that is under way", async () => {
    const fleet = new VirtualFleet();
    const [leaver] = await fleet.calm("leaver", "other");
    assert.ok(leaver);
    void leaver.lobbies.handOver();
    await fleet.run(5);
    await fleet.ended(leaver.lobbies.stop());
    assert.deepEqual(fleet.shares(), { other: shardCount });
  });
});
