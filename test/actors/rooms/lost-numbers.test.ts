import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Connections } from "../../../actors/log/connection.ts";
import { shardOf } from "../../../actors/log/keys.ts";
import { code, LobbyFleet, setPrompt } from "./lobby-fleet.ts";
import type { VirtualWorker } from "./virtual-fleet.ts";
import { historyKey, workersKey } from "../../support/lobby-keys.ts";

interface Restart {
  downMs: number;
  /** Writes after this time are lost. */
  lostSince?: number;
  /** The process that restarts it knows that nothing is lost. */
  isWhole?: boolean;
  restMs?: number;
}

/** Commits as sent to a Redis Cluster. */
const sharded = (given: Connections): Connections => ({
  ...given,
  commits: { ...given.commits, isSharded: true },
});

/** Two workers, and a lobby at number 1 whose later changes Redis may lose. */
async function openLobby(alter?: (given: Connections) => Connections) {
  const fleet = new LobbyFleet();
  const members = [await fleet.member("w1", alter), await fleet.member("w2", alter)];
  await fleet.run(3_000);
  const [owner] = fleet.ownerFirst(members);
  assert.ok(owner);
  await fleet.open(owner);
  await fleet.run(1_500);
  const time = fleet.now;
  await fleet.run(1);
  return { fleet, members, owner, time };
}

async function change(fleet: LobbyFleet, member: VirtualWorker, ...prompts: string[]) {
  for (const prompt of prompts)
    assert.ok((await fleet.ask(member, setPrompt(prompt), prompt)).ok, prompt);
}

const received = (fleet: LobbyFleet) => fleet.messages().map(({ seq, type }) => `${seq} ${type}`);

/** Of the published events only the first is left, and the numbers of the others stay unused. */
function assertSkipped(fleet: LobbyFleet, last: number): void {
  const [first, ...others] = fleet.messages();
  assert.equal(first?.type, "lobby.player_joined");
  assert.ok(
    others.every(({ seq }) => seq > last),
    received(fleet).join(),
  );
}

const gaps = (fleet: LobbyFleet) =>
  fleet.messages().filter(({ type }) => type === "lobby.gap").length;

/** Redis ends with all its connections. */
async function restart(fleet: LobbyFleet, members: VirtualWorker[], how: Restart) {
  const { downMs, lostSince, isWhole = false, restMs = 1_500 } = how;
  fleet.net.isUp = false;
  for (const { wiring } of members) wiring.cut(false);
  if (lostSince !== undefined) fleet.redis.loseAfter(lostSince);
  fleet.redis.restart(isWhole);
  await fleet.run(downMs);
  fleet.net.isUp = true;
  await fleet.run(restMs);
}

describe("event numbers of a lobby", () => {
  describe("after a loss", () => {
    it("are not used again by workers that Redis no longer lists after an outage", async () => {
      const { fleet, members, owner, time } = await openLobby();
      await change(fleet, owner, "one", "two", "three");
      assert.equal(fleet.messages().at(-1)?.seq, 4);
      await restart(fleet, members, { downMs: 3_000, lostSince: time });
      await fleet.run(3_000);
      await change(fleet, owner, "other");
      assert.deepEqual(received(fleet), [
        "1 lobby.player_joined",
        "6 lobby.gap",
        "7 lobby.settings",
      ]);
    });

    it("are not used again after a loss that no process survived, nor after a second one", async () => {
      const { fleet, members, owner, time } = await openLobby();
      await change(fleet, owner, "one", "two", "three");
      const seen = new Set(
        received(fleet)
          .slice(1)
          .map((line) => Number.parseInt(line, 10)),
      );
      for (const name of ["w3", "w4"]) {
        for (const member of members.splice(0)) fleet.kill(member);
        await restart(fleet, [], { downMs: 100, lostSince: time });
        members.push(await fleet.member(name));
        const [nextOwner] = members;
        assert.ok(nextOwner);
        await fleet.run(3_000);
        await change(fleet, nextOwner, `first of ${name}`, `second of ${name}`);
        for (const { seq } of fleet.messages().slice(1)) {
          assert.ok(!seen.has(seq), `${seq} was used before`);
          seen.add(seq);
        }
        assert.equal(gaps(fleet), 1);
      }
    });

    it("are not used again by a worker that never learned the outcome of a lost event's commit", async () => {
      const { fleet, members, owner } = await openLobby();
      await change(fleet, owner, "one");
      await fleet.run(50);
      const time = fleet.now;
      await fleet.run(1);
      const changing = change(fleet, owner, "two");
      await fleet.until(() => fleet.messages().at(-1)?.seq === 3, 0.01);
      await restart(fleet, members, { downMs: 100, lostSince: time });
      await changing;
      assert.deepEqual(received(fleet), [
        "1 lobby.player_joined",
        "2 lobby.settings",
        "5 lobby.gap",
        "6 lobby.settings",
      ]);
    });
  });
  describe("when little or nothing was lost", () => {
    it("continue without a gap when a worker never learned a commit's outcome and nothing was lost", async () => {
      const { fleet, members, owner } = await openLobby();
      const changing = change(fleet, owner, "one");
      await fleet.until(() => fleet.messages().at(-1)?.seq === 2, 0.01);
      await restart(fleet, members, { downMs: 100 });
      await changing;
      await change(fleet, owner, "two");
      assert.deepEqual(received(fleet), [
        "1 lobby.player_joined",
        "2 lobby.settings",
        "3 lobby.settings",
      ]);
    });

    it("continue without a gap when nothing was lost and the worker knows that", async () => {
      const { fleet, members, owner } = await openLobby();
      await restart(fleet, members, { downMs: 5_000 });
      await fleet.run(3_000);
      await change(fleet, owner, "one");
      assert.deepEqual(received(fleet), ["1 lobby.player_joined", "2 lobby.settings"]);
      // The shard is recorded as intact, so a new owner knows it too.
      fleet.kill(owner);
      const nextOwner = members.find((member) => member !== owner);
      assert.ok(nextOwner);
      await fleet.run(3_000);
      await change(fleet, nextOwner, "two");
      assert.equal(gaps(fleet), 0);
    });

    it("leave only the necessary gap when the worker knows what was lost", async () => {
      const { fleet, members, owner, time } = await openLobby();
      await change(fleet, owner, "one", "two", "three");
      await restart(fleet, members, { downMs: 100, lostSince: time });
      await change(fleet, owner, "other");
      assert.deepEqual(received(fleet), [
        "1 lobby.player_joined",
        "6 lobby.gap",
        "7 lobby.settings",
      ]);
    });
  });
  describe("of lobbies that changed hands", () => {
    it("are not used again by a worker when the lost data had another owner of its lobbies", async () => {
      const { fleet, members, owner } = await openLobby();
      const nextOwner = members.find((member) => member !== owner);
      assert.ok(nextOwner);
      // Silent for so long that the other worker takes over its lobbies.
      owner.wiring.stall("control", 4_000);
      await fleet.run(3_950);
      const time = fleet.now - 3_000;
      await change(fleet, nextOwner, "one", "two", "three");
      // Sent before the worker can learn that Redis has lost its heartbeat.
      await restart(fleet, members, { downMs: 60, lostSince: time, restMs: 110 });
      await change(fleet, owner, "other");
      assertSkipped(fleet, 5);
    });

    it("are not used again by a frozen worker when a cluster node lost the data of another owner of its lobbies", async () => {
      const { fleet, members, owner, time } = await openLobby(sharded);
      const nextOwner = members.find((member) => member !== owner);
      assert.ok(nextOwner);
      owner.frozenUntil = fleet.now + 5_000;
      await fleet.run(4_900);
      await change(fleet, nextOwner, "one", "two", "three");
      // The heartbeats are on another cluster node.
      const signs = new Map(fleet.redis.sorted.get(workersKey));
      fleet.redis.loseAfter(time);
      fleet.redis.restart(false);
      fleet.redis.sorted.set(workersKey, signs);
      // Sent before the worker can learn that it counted as dead.
      await fleet.run(owner.frozenUntil - fleet.now);
      await change(fleet, owner, "other");
      assertSkipped(fleet, 4);
    });

    it("continue without a gap after Redis starts known to have lost nothing, and with a gap after any other start", async () => {
      const { fleet, members } = await openLobby();
      for (const name of ["w3", "w4"]) {
        for (const member of members.splice(0)) fleet.kill(member);
        await restart(fleet, [], { downMs: 5_000, isWhole: true });
        members.push(await fleet.member(name));
      }
      const [nextOwner] = members;
      assert.ok(nextOwner);
      await fleet.run(3_000);
      await change(fleet, nextOwner, "one");
      assert.equal(gaps(fleet), 0);
      fleet.kill(nextOwner);
      await restart(fleet, [], { downMs: 100 });
      const next = await fleet.member("w5");
      await fleet.run(3_000);
      await change(fleet, next, "two");
      await change(fleet, next, "three");
      assert.equal(gaps(fleet), 1);
    });

    it("continue without a gap in a lobby of a version that did not record the Redis instance", async () => {
      const { fleet, members, owner } = await openLobby();
      fleet.redis.strings.delete(historyKey(shardOf(code)));
      fleet.kill(owner);
      const nextOwner = members.find((member) => member !== owner);
      assert.ok(nextOwner);
      await fleet.run(3_000);
      await change(fleet, nextOwner, "one");
      assert.equal(gaps(fleet), 0);
      assert.equal(fleet.redis.get(historyKey(shardOf(code))), `${fleet.redis.history} 0`);
    });
  });
});
