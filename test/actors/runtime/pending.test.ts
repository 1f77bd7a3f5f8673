import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Pending } from "../../../actors/runtime/pending.ts";

test("what waits is found once by its number, oldest first, within the room there is", () => {
  const capacity = 8;
  // A number to take, or null to add one more.
  const step = fc.option(fc.nat({ max: 60 }));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const pending = new Pending<string>(capacity);
      const model = new Map<number, string>();
      let next = 0;
      for (const taken of steps) {
        if (taken === null) {
          const oldest = [...model.keys()][0] ?? next;
          const isFull = next - oldest >= capacity;
          assert.equal(pending.add(`entry ${next}`), isFull ? null : next);
          if (!isFull) model.set(next, `entry ${next++}`);
        } else {
          assert.equal(pending.take(taken), model.get(taken) ?? null);
          model.delete(taken);
        }
        assert.equal(pending.size, model.size);
        assert.deepEqual([...pending], [...model]);
      }
    }),
  );
});

test("the entry at hand may be taken while all are gone through", () => {
  const pending = new Pending<number>(4);
  for (let n = 0; n < 4; n++) pending.add(n);
  const seen: number[] = [];
  for (const [number, entry] of pending) {
    seen.push(entry);
    pending.take(number);
  }
  assert.deepEqual(seen, [0, 1, 2, 3]);
  assert.equal(pending.size, 0);
});
