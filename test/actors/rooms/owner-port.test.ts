import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { VirtualFleet } from "./virtual-fleet.ts";

/** Time for heartbeats of all workers and for their effects. */
const calmMs = 8_000;

/** Two workers with ports, and one without a port, possibly of an earlier version. */
async function fleetWithPorts() {
  const fleet = new VirtualFleet();
  const [first, second, portless] = [
    await fleet.start("first"),
    await fleet.start("second"),
    await fleet.start("portless"),
  ];
  await fleet.ended(first.lobbies.join(8081));
  await fleet.ended(second.lobbies.join(8082));
  await fleet.ended(portless.lobbies.join());
  await fleet.run(calmMs);
  return { fleet, first, second, portless };
}

describe("the port of an owner", () => {
  it("is known to all workers, the owner itself included", async () => {
    const { fleet, first, second, portless } = await fleetWithPorts();
    for (const { lobbies } of [first, second, portless]) {
      assert.equal(lobbies.ownerPort(fleet.codeOf("first")), 8081);
      assert.equal(lobbies.ownerPort(fleet.codeOf("second")), 8082);
      assert.equal(lobbies.ownerPort(fleet.codeOf("portless")), null);
    }
  });

  it("is no longer named when the owner has died", async () => {
    const { fleet, first, second } = await fleetWithPorts();
    const code = fleet.codeOf("second");
    fleet.kill(second);
    fleet.publishNodeDown(second);
    await fleet.until(() => first.lobbies.ownerPort(code) !== 8082);
    await fleet.run(calmMs);
    assert.ok([8081, null].includes(first.lobbies.ownerPort(code)));
    assert.deepEqual(Object.keys(fleet.redis.hgetall("{workers}:ports")), ["first"]);
  });

  it("is no longer named from the moment the owner leaves, though it has lobbies still", async () => {
    const { fleet, first, second } = await fleetWithPorts();
    const code = fleet.codeOf("second");
    const leaving = second.lobbies.handOver();
    await fleet.until(() => first.lobbies.ownerPort(code) === null);
    await fleet.ended(leaving);
  });
});
