import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Bag } from "../../../server/core/bag.ts";

test("a bag holds what a set would, whatever comes and goes", () => {
  const step = fc.record({ n: fc.nat({ max: 9 }), isAdded: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
      const members = Array.from({ length: 10 }, (_, n) => ({ n, place: -1 }));
      const bag = new Bag<(typeof members)[number]>();
      const model = new Set<number>();
      for (const { n, isAdded } of steps) {
        const member = members[n] ?? assert.fail();
        if (isAdded) bag.add(member);
        else bag.delete(member);
        if (isAdded) model.add(n);
        else model.delete(n);
        assert.equal(bag.size, model.size);
        assert.deepEqual([...bag].map((one) => one.n).sort(), [...model].sort());
      }
    }),
  );
});

test("the member at hand may leave while a bag is gone through", () => {
  const members = Array.from({ length: 5 }, (_, n) => ({ n, place: -1 }));
  const bag = new Bag<(typeof members)[number]>();
  for (const member of members) bag.add(member);
  const seen: number[] = [];
  for (const member of bag) {
    seen.push(member.n);
    if (member.n % 2 === 0) bag.delete(member);
  }
  assert.deepEqual(seen, [4, 3, 2, 1, 0]);
  assert.deepEqual([...bag].map(({ n }) => n).sort(), [1, 3]);
});
