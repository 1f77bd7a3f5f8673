import assert from "node:assert/strict";
import { test } from "node:test";
import { accept, type Heard } from "./listener.ts";

function heardNothing(): Heard {
  return {
    last: 0,
    messages: new Map(),
    connections: 0,
    doubled: 0,
    missed: 0,
    gaps: 0,
    isEnded: false,
  };
}

const frame = (event: string, seq: number) => `id: ${seq}\nevent: ${event}\ndata: {}`;

test("the event listener detects a missing, duplicate or abandoned message", () => {
  const heard = heardNothing();
  for (const text of [frame("lobby.snapshot", 3), frame("lobby.pick", 4), ": comment"])
    accept(heard, text);
  assert.deepEqual([heard.missed, heard.doubled, heard.gaps], [0, 0, 0]);
  accept(heard, frame("lobby.pick", 6));
  assert.equal(heard.missed, 1);
  accept(heard, frame("lobby.pick", 6));
  assert.equal(heard.doubled, 1);
  accept(heard, "event: lobby.gap\ndata: {}");
  accept(heard, frame("lobby.snapshot", 9));
  assert.deepEqual([heard.missed, heard.gaps], [4, 1]);
});
