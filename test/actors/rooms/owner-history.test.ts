import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Takeover } from "../../../actors/index.ts";
import { lobbyKeyspace } from "../../../actors/lobby/keys.ts";
import {
  keptOwners,
  takeoversIn,
  type ClaimedShard,
} from "../../../actors/cluster/owner-history.ts";
import { shardOf } from "../../../actors/log/keys.ts";
import { runScript } from "../../../actors/log/scripts.ts";
import { maxRoomEvents } from "../../../actors/log/room-events.ts";
import { by, newMember, startedLobby } from "./fleet.ts";
import { ProcessFleet } from "./process-fleet.ts";
import { eventually } from "../../support/eventually.ts";
import { ownersKey } from "../../support/lobby-keys.ts";

describe("the owners of a room", () => {
  const takeovers: Takeover[] = [];
  let fleet: ProcessFleet;
  before(async () => {
    fleet = await ProcessFleet.start({ onTakeover: (takeover) => takeovers.push(takeover) });
  });
  after(() => fleet.stop());

  const ownersOf = async (code: string) => {
    const room = await fleet.member.lobbies.locate(code);
    assert.ok(room);
    return room.owners;
  };
  const causesOf = async (code: string) => (await ownersOf(code)).map(({ cause }) => cause);
  const open = async (code: string) =>
    startedLobby(fleet.member.lobbies, code, { mode: "coop", questions: 3, seats: [1, 2] });
  const ownId = () => fleet.member.lobbies.describe().nodeId;

  /** A stalled machine may make a process claim its own shards again. */
  const movesOf = async (code: string) =>
    (await causesOf(code)).filter((cause) => cause !== "reclaimed");

  it("show the first one, with its process and time", async () => {
    const code = "T0FRST";
    await open(code);
    const owner = (await ownersOf(code)).at(-1);
    assert.deepEqual([owner?.cause, owner?.nodeId], ["started", ownId()]);
    assert.equal(owner?.process, ownId(), "a process without a name has that of its node");
    assert.ok(Math.abs((owner?.atMs ?? 0) - Date.now()) < 60_000);
  });

  it("tell a takeover of a process that exited from a handover", async () => {
    const other = await fleet.neighbour();
    const [code = ""] = await fleet.codesOf(other.nodeId, 1);
    await open(code);
    await fleet.kill(other);
    await eventually("it is taken over", async () => (await causesOf(code))[0] === "exited");
    assert.deepEqual(await movesOf(code), ["exited", "rebalanced", "started"]);
    const takeover = takeovers.find(({ from }) => from === other.nodeId);
    assert.ok(takeover);
    assert.deepEqual([takeover.kind, takeover.cause], ["lobby", "exited"]);
    assert.ok(takeover.codes.includes(code));
    assert.ok(takeover.numShards > 100 && takeover.numRooms >= 1);
  });

  it("name a frozen process as the cause", async () => {
    const other = await fleet.neighbour();
    const [code = ""] = await fleet.codesOf(other.nodeId, 1);
    await open(code);
    other.process.kill("SIGSTOP");
    await eventually("it is taken over", async () => (await causesOf(code))[0] === "frozen");
    const takeover = takeovers.find(({ from }) => from === other.nodeId);
    assert.equal(takeover?.cause, "frozen");
    assert.ok(takeover.codes.includes(code));
    other.process.kill("SIGCONT");
    await fleet.kill(other);
  });

  it("name a process that stops and hands over, which is no takeover", async () => {
    const other = await newMember(fleet.stores.redisUrl);
    const { nodeId } = other.lobbies.describe();
    await fleet.hasShards(nodeId);
    const [code = ""] = await fleet.codesOf(nodeId, 1);
    await open(code);
    await other.lobbies.stop();
    await eventually("it is handed over", async () => (await causesOf(code))[0] === "drained");
    assert.equal((await ownersOf(code))[0]?.nodeId, ownId());
    assert.ok(!takeovers.some(({ from }) => from === nodeId));
  });

  it("are kept up to their number, and a refused claim adds none", async () => {
    const shard = shardOf("T0MANY");
    const { owner, epoch, due, history, owners } = lobbyKeyspace;
    const keys = [owner, epoch, due, history, owners].map((key) => `test:${key(shard)}`);
    let record = "";
    const claim = (seen: string) =>
      runScript(fleet.redis, "claim", keys, [seen, "w", 0, "exited", "http-0@w", keptOwners]);
    for (let n = 0; n < keptOwners + 2; n++)
      record = String(((await claim(record)) as string[])[0]);
    assert.deepEqual(await claim("another"), []);
    const list = await fleet.redis.lrange(`test:${ownersKey(shard)}`, 0, -1);
    assert.equal(list.length, keptOwners);
    assert.match(list[0] ?? "", /^\d{13} exited http-0@w w\|10$/);
  });

  it("come with the last messages by number, type and time", async () => {
    const code = "T0MSGS";
    await open(code);
    for (let n = 0; n < maxRoomEvents; n++)
      await fleet.member.lobbies.ask(code, {
        ...{ type: "pick", selectedIndex: n % 2, index: 0 },
        ...by(1),
      });
    const room = await fleet.member.lobbies.locate(code);
    assert.equal(room?.events.length, maxRoomEvents);
    assert.deepEqual(
      room?.events.map(({ seq }) => seq),
      Array.from({ length: maxRoomEvents }, (_, i) => (room?.seq ?? 0) - i),
    );
    const [newest] = room?.events ?? [];
    assert.deepEqual(Object.keys(newest ?? {}), ["seq", "type", "atMs"]);
    assert.equal(newest?.type, "lobby.pick");
  });
});

describe("the takeovers among claimed shards", () => {
  it("are one for each earlier owner, with some of its rooms", () => {
    const shard = (from: string | null, cause: ClaimedShard["cause"], codes: string[] = []) => ({
      ...{ from, cause, codes },
    });
    const many = Array.from({ length: 30 }, (_, n) => `C${n}`);
    const found = takeoversIn("lobby", [
      shard("a", "frozen", many),
      shard("b", "exited"),
      shard("a", "frozen", ["last"]),
      shard("c", "drained", ["given"]),
      shard(null, "started"),
    ]);
    assert.deepEqual(found, [
      {
        ...{ kind: "lobby", from: "a", cause: "frozen", numShards: 2, numRooms: 31 },
        codes: many.slice(0, 20),
      },
      { kind: "lobby", from: "b", cause: "exited", numShards: 1, numRooms: 0, codes: [] },
    ]);
  });
});
