import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { Histogram, Registry } from "prom-client";
import { Tally, TallyHistogram } from "../../../server/core/tally.ts";

const buckets = [0.001, 0.01, 0.1, 1];
const base = { name: "seconds", help: "Time", labelNames: ["route"] as const, buckets };

describe("a tally", () => {
  it("tells the registry every step once, however often it is read", async () => {
    const registry = new Registry();
    const tally = new Tally({ ...base, name: "things", registers: [registry] });
    const [a, b] = [tally.cell({ route: "/a" }), tally.cell({ route: "/b" })];
    a.n += 3;
    assert.match(await registry.metrics(), /^things\{route="\/a"\} 3$/m);
    a.n += 1;
    b.n += 1;
    const text = await registry.metrics();
    assert.match(text, /^things\{route="\/a"\} 4$/m);
    assert.match(text, /^things\{route="\/b"\} 1$/m);
  });
});

describe("a tally's histogram", () => {
  it("says the same as the library's own, whatever is observed", async () => {
    const value = fc.oneof(
      fc.constantFrom(0, ...buckets),
      fc.double({ min: 0, max: 3, noNaN: true }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(value, { maxLength: 50 }), async (values) => {
        const [ours, theirs] = [new Registry(), new Registry()];
        const quick = new TallyHistogram({ ...base, registers: [ours] });
        const plain = new Histogram({ ...base, registers: [theirs] });
        const observe = quick.observer({ route: "/a" });
        for (const one of values) {
          observe(one);
          plain.observe({ route: "/a" }, one);
        }
        const sorted = async (registry: Registry) => (await registry.metrics()).split("\n").sort();
        assert.deepEqual(await sorted(ours), await sorted(theirs));
      }),
      { numRuns: 100 },
    );
  });
});
