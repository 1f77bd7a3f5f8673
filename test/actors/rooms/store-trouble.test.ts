import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Cluster, type Redis } from "ioredis";
import { connectionOf } from "../../../actors/log/cluster-connection.ts";
import type { Connections } from "../../../actors/log/connection.ts";
import { shardCount } from "../../../actors/log/keys.ts";
import { VirtualFleet } from "./virtual-fleet.ts";

describe("workers while Redis answers in part or not at all", () => {
  it("keep and serve their shards while the owner map is unreadable", async () => {
    const fleet = new VirtualFleet();
    let isSilent = false;
    const { timeline } = fleet;
    const silent = () =>
      new Promise<never>((_, fail) => {
        timeline.add(timeline.now + 2_500, null, () => fail(new Error("Command timed out")));
      });
    const withSilence = (connections: Connections): Connections => {
      const { control } = connections;
      const mget: typeof control.mget = (keys) => (isSilent ? silent() : control.mget(keys));
      return { ...connections, control: { ...control, mget } };
    };
    const first = await fleet.start("first", withSilence);
    await fleet.join(first);
    const second = await fleet.start("second", withSilence);
    await fleet.join(second);
    await fleet.run(8_000);
    const held = () => [first, second].map(({ lobbies }) => lobbies.describe().shards);
    const before = held();
    isSilent = true;
    let refused = 0;
    for (let i = 0; i < 200; i++) {
      void fleet.read(second, `V${i}`).then((reply) => {
        if (!reply.ok && reply.code !== "lobby:not_found") refused += 1;
      });
      await fleet.run(100);
      assert.deepEqual(held(), before, `after ${i * 100} ms`);
    }
    assert.equal(refused, 0);
  });

  it("take over the shards of a dead worker as soon as their connections are back", async () => {
    const fleet = new VirtualFleet();
    const [deadOwner, nextOwner] = await fleet.calm("deadOwner", "nextOwner");
    assert.ok(deadOwner && nextOwner);
    fleet.kill(deadOwner);
    fleet.publishNodeDown(deadOwner);
    await fleet.run(4);
    nextOwner.wiring.cut(false);
    const from = fleet.now;
    await fleet.until(() => fleet.shares()["nextOwner"] === shardCount);
    assert.ok(fleet.now - from < 200, `${fleet.now - from} ms`);
  });

  it("retry at the next heartbeat what Redis failed to do", async () => {
    const fleet = new VirtualFleet();
    const [deadOwner] = await fleet.calm("deadOwner");
    let failuresLeft = 0;
    const nextOwner = await fleet.start("nextOwner", (connections) => {
      const { control } = connections;
      const evalsha: typeof control.evalsha = (sha, keyCount, ...args) => {
        const isClaim = String(args[1]).endsWith(":epoch");
        if (isClaim && failuresLeft-- > 0) return Promise.reject(new Error("CLUSTERDOWN"));
        return control.evalsha(sha, keyCount, ...args);
      };
      return { ...connections, control: { ...control, evalsha } };
    });
    await fleet.join(nextOwner);
    await fleet.run(8_000);
    assert.ok(deadOwner);
    fleet.kill(deadOwner);
    fleet.publishNodeDown(deadOwner);
    failuresLeft = 2;
    const from = fleet.now;
    await fleet.until(() => fleet.shares()["nextOwner"] === shardCount);
    assert.ok(failuresLeft < 0 && fleet.now - from < 1_600, `${fleet.now - from} ms`);
  });

  it("take over shards that were handed to them while they received no messages", async () => {
    const fleet = new VirtualFleet();
    await fleet.calm("giver");
    const joiner = await fleet.start("joiner");
    await fleet.join(joiner);
    await fleet.until(() => fleet.vacancies.most > 0);
    joiner.wiring.deafen();
    await fleet.until(() => fleet.shares()["free"] === undefined);
    const { longestMs } = fleet.vacancies;
    assert.ok(longestMs < 150, `a shard was free for ${longestMs} ms`);
    assert.ok((fleet.shares()["joiner"] ?? 0) > 0, "the giver took it back");
  });
});

describe("the keys of a Redis cluster", () => {
  /** A cluster of two masters; keys `{a}` are on one of them and `{b}` on the other. */
  function clusterOf(answers: Record<string, () => Promise<[null, string][]>>): Redis {
    const slots = new Proxy([], { get: (_, slot) => [Number(slot) === 15_495 ? "a" : "b"] });
    const pipeline = () => {
      let node = "";
      return {
        get: (key: string) => (node = key.slice(1, 2)),
        exec: () => answers[node]?.(),
      };
    };
    return Object.assign(Object.create(Cluster.prototype), { slots, pipeline }) as Redis;
  }
  const answering = async (): Promise<[null, string][]> => [[null, "value"]];
  const silent = () => Promise.reject(new Error("Command timed out"));

  it("are listed from the masters that answer", async () => {
    const redis = connectionOf(clusterOf({ a: answering, b: silent }));
    assert.deepEqual(await redis.mget(["{a}", "{b}"]), ["value", undefined]);
  });

  it("cannot be listed when no master answers", async () => {
    const redis = connectionOf(clusterOf({ a: silent, b: silent }));
    await assert.rejects(redis.mget(["{a}", "{b}"]), /timed out/);
  });
});
