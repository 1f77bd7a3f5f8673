import assert from "node:assert/strict";
import { test } from "node:test";
import calculateSlot from "cluster-key-slot";
import { Redis } from "ioredis";
import { createChannels } from "../../server/platform/redis/create-channels.ts";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { startTestCluster } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import { startProxy } from "../support/proxy.ts";

/** Reduced from the service's 5 s. */
const detectionTimeoutMs = 1_000;
/** Slots of the first of three masters. */
const firstSlots = 5_461;

test("subscriptions at a cluster node are renewed when the connection to it has gone silent", async () => {
  const cluster = await startTestCluster();
  const [port = 0] = cluster.ports;
  const proxy = await startProxy({ host: "127.0.0.1", port });
  const [node, other] = cluster.ports
    .slice(0, 2)
    .map((one) => new Redis({ host: "127.0.0.1", port: one }));
  assert.ok(node && other);
  let isConfirmed = false;
  let isConfirmedAlive = false;
  try {
    const channel = Array.from({ length: 100 }, (_, n) => `channel ${n}`).find(
      (name) => calculateSlot(name) < firstSlots,
    );
    assert.ok(channel);
    await node.config("SET", "cluster-announce-port", proxy.port);
    const isKnown = async () =>
      JSON.stringify(await other.cluster("SLOTS")).includes(`${proxy.port}`);
    await eventually("all clients use the address of the proxy", isKnown);
    const channels = createChannels({
      url: `redis+cluster://127.0.0.1:${cluster.ports[1]}`,
      log: silentLogger,
      name: "silent-node",
      onMessage: (_, text) => void (isConfirmedAlive ||= text === "heard"),
      confirmed: () => void (isConfirmed = true),
      detectionTimeoutMs,
    });
    try {
      channels.follow(channel);
      await eventually("the subscription is confirmed", () => isConfirmed);
      proxy.silence();
      await node.spublish(channel, "unheard");
      // Without a health check the silence is never noticed.
      await eventually("a message is heard", async () => {
        await node.spublish(channel, "heard");
        return isConfirmedAlive;
      });
    } finally {
      channels.close();
    }
  } finally {
    for (const one of [node, other]) one.disconnect();
    await proxy.stop();
    await cluster.stop();
  }
});
