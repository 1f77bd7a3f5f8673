import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { accept, defineRoom } from "../../../actors/index.ts";
import { erased } from "../../../actors/create-rooms.ts";
import { nothingStored } from "../../../actors/log/stored-state.ts";
import { RoomMemory } from "../../../actors/memory.ts";
import { noOrigin } from "../../../server/platform/origin.ts";

interface Note {
  seq: number;
}
type Command = { type: "open" | "write" | "read" | "tick" };
type Event = { type: "opened" | "written"; at: number };

/** A kind without any deadline. */
const notes = erased(
  defineRoom<Note, Command, Event>({
    kind: "note",
    notFound: "room:not_found",
    read: { type: "read" },
    tick: { type: "tick" },
    decide: (_note, { type }, at) => accept({ type: type === "open" ? "opened" : "written", at }),
    evolve: (note) => note ?? { seq: 0 },
    snapshot: () => ({}),
    messages: { written: "note.written" },
  }),
);
const [minute, hour] = [60_000, 3_600_000];

/** The lifetime that a command gives the stored room; null leaves it as it is. */
function lifetime(room: RoomMemory, type: Command["type"], now: number): number | null {
  const delivery = { command: { type }, id: `${now}`, origin: noOrigin };
  return room.decide([delivery], now, `c${now}`).commit?.ttlMs ?? null;
}

describe("a room without a deadline", () => {
  it("ends in Redis 48 hours after the last change, and lives on with a change a day", () => {
    const room = new RoomMemory(notes, "AAAAAA", nothingStored(), 0);
    assert.equal(lifetime(room, "open", 0), 48 * hour);
    assert.equal(lifetime(room, "write", 0), 48 * hour, "its stream begins");
    assert.equal(lifetime(room, "write", minute), null);
    assert.equal(lifetime(room, "write", 2 * minute), null);
    for (let day = 1; day <= 3; day++)
      assert.equal(lifetime(room, "write", day * 24 * hour), 48 * hour);
  });

  it("lives on with a new owner", () => {
    const stored = { ...nothingStored(), state: { seq: 7 }, version: 7, commitId: "c" };
    const room = new RoomMemory(notes, "AAAAAA", stored, 0);
    assert.equal(lifetime(room, "write", minute), 48 * hour);
  });
});
