import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Queue } from "../../../server/sse/queue.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

test("entries come out in the order they went in, whatever the length meanwhile", () => {
  const queue = new Queue<{ n: number }>();
  let [given, taken] = [0, 0];
  const put = (count: number) => {
    for (let i = 0; i < count; i++) queue.push({ n: given++ });
  };
  const take = (count: number) => {
    for (let i = 0; i < count; i++) assert.equal(queue.shift()?.n, taken++);
  };
  for (const [more, less] of [
    [3, 1],
    [200, 150],
    [1, 53],
    [0, 0],
    [1, 1],
    [500, 499],
  ] as const) {
    put(more);
    take(less);
    assert.equal(queue.size, given - taken);
  }
  take(given - taken);
  assert.equal(queue.shift(), undefined);
  assert.equal(queue.size, 0);
});

test("what was taken is let go although the queue is never empty", async () => {
  const queue = new Queue<object>();
  const all: WeakRef<object>[] = [];
  const waiting = 100;
  for (let n = 0; n < 20_000; n++) {
    const entry = {};
    all.push(new WeakRef(entry));
    queue.push(entry);
    if (queue.size > waiting) queue.shift();
  }
  // A reference that was made is good until the end of the turn.
  await new Promise(setImmediate);
  collectGarbage();
  const kept = all.filter((entry) => entry.deref() !== undefined).length;
  assert.ok(kept >= waiting && kept <= 3 * waiting, `${kept} are kept`);
  assert.equal(queue.size, waiting);
});
