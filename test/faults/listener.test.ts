import assert from "node:assert/strict";
import { test } from "node:test";
import { accept, nothingReceived } from "./listener.ts";

const frame = (event: string, seq: number) => `id: ${seq}\nevent: ${event}\ndata: {}`;

test("the event listener detects a missing, duplicate or abandoned message", () => {
  const received = nothingReceived();
  for (const text of [frame("lobby.snapshot", 3), frame("lobby.pick", 4), ": comment"])
    accept(received, text);
  assert.deepEqual([received.missed, received.doubled, received.gaps], [0, 0, 0]);
  accept(received, frame("lobby.pick", 6));
  assert.equal(received.missed, 1);
  accept(received, frame("lobby.pick", 6));
  assert.equal(received.doubled, 1);
  accept(received, "event: lobby.gap\ndata: {}");
  accept(received, frame("lobby.snapshot", 9));
  assert.deepEqual([received.missed, received.gaps], [4, 1]);
});
