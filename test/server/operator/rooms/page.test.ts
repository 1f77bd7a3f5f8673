import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { LocatedRoom } from "../../../../actors/index.ts";
import type { RoomReport } from "../../../../server/runtime/ipc.ts";
import { roomRoutes, type RoomsDeps } from "../../../../server/operator/rooms/routes.ts";
import { answerOf } from "../call-route.ts";

const evil = "<img src=x onerror=alert(1)>";
const atMs = Date.UTC(2026, 2, 1, 12);
const located: LocatedRoom = {
  ...{ code: "ABCDEF", shard: 17, status: evil, seq: 4, deadline: atMs, numCommands: 3 },
  owner: "w1",
  owners: [
    { atMs, cause: "frozen", nodeId: "w1", process: "http-0@abc" },
    { atMs: atMs - 1, cause: "rebalanced", nodeId: "w2", process: "http-1@def" },
    { atMs: atMs - 2, cause: evil, nodeId: "w3", process: evil },
  ],
  events: [{ seq: 4, type: "lobby.ended", atMs }],
};
const facts: RoomReport["facts"] = {
  members: [
    { seatId: 1, playerId: 7 },
    { seatId: 2, playerId: null },
  ],
  resultJob: { queue: "lobby-results", id: "lobby-ABCDEF-1-4" },
};
const held = { ...located, lastUsedAt: atMs, numCommands: 3 };
const share = { nodeId: "w1", shards: 1_024, actors: 1, pending: 0, held: [held], described: [] };

const open = async (path: string, given: Partial<RoomReport> = {}) => {
  const deps: RoomsDeps = {
    lobbies: async () => [],
    rooms: async () => [{ host: "a", pid: 7, kinds: { lobby: share } }],
    room: async () => [{ process: "p7", hasRead: true, room: located, facts, ...given }],
    subscribers: async () => [[2]],
  };
  const headers = { accept: "text/html" };
  return (await answerOf(roomRoutes, deps, `/operator/rooms${path}`, { headers })).text;
};

describe("the pages of rooms", () => {
  it("lead from the kinds to a room", async () => {
    assert.match(await open(""), /href="\/operator\/rooms\/lobby">lobby</);
    assert.match(await open("/lobby"), /href="\/operator\/rooms\/lobby\/ABCDEF">ABCDEF</);
  });

  it("show who owned a room, why it moved, and what happened to processes then", async () => {
    const text = await open("/lobby/ABCDEF");
    assert.match(text, /Owners of shard 17/);
    assert.match(text, /http-0@abc<\/td>\s*<td>\s*<strong[^>]*>takeover: its process was frozen/);
    assert.match(text, /http-1@def<\/td>\s*<td>handover: shards were rebalanced/);
    const near = "from=2026-03-01T11%3A59%3A00.000Z&#38;to=2026-03-01T12%3A01%3A00.000Z";
    assert.ok(text.includes(`href="/operator/workers/events?${near}"`));
  });

  it("link its members and the job of its result", async () => {
    const text = await open("/lobby/ABCDEF");
    assert.ok(text.includes('href="/operator/players/7"') && text.includes("not signed in"));
    assert.ok(text.includes('href="/operator/jobs/lobby-results/lobby-ABCDEF-1-4"'));
    const plain = await open("/lobby/ABCDEF", { facts: null });
    assert.doesNotMatch(plain, /Members|lobby-results/);
  });

  it("escape what others wrote", async () => {
    for (const path of ["/lobby", "/lobby/ABCDEF"]) {
      const text = await open(path);
      assert.ok(text.includes("&#60;img") && !text.includes("<img"), path);
    }
  });
});
