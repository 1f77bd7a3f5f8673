import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { LeasedValue, type LeasedRead } from "../../../../server/platform/cache/leased-value.ts";

/** A leased number whose reads end when the test says so. */
function leased(leaseMs = 100) {
  const clock = { ms: 0 };
  const reads: ((read: LeasedRead<number> | Error) => void)[] = [];
  const held: (number | null)[] = [];
  const value = new LeasedValue<number>({
    leaseMs,
    now: () => clock.ms,
    read: (last) => {
      held.push(last);
      return new Promise((resolve, reject) => {
        reads.push((read) => (read instanceof Error ? reject(read) : resolve(read)));
      });
    },
  });
  /** Ends the read with this number. */
  const end = async (at: number, number: number, isLeased = true) => {
    reads[at]?.({ value: number, isLeased });
    await new Promise(setImmediate);
  };
  return { clock, reads, held, value, end };
}

describe("a leased value", () => {
  it("is kept for its lease, counted from the begin of the read", async () => {
    const { clock, reads, held, value, end } = leased();
    const first = value.get();
    clock.ms = 60;
    await end(0, 1);
    assert.equal(await first, 1);
    clock.ms = 99;
    assert.equal(await value.get(), 1);
    clock.ms = 100;
    const second = value.get();
    await end(1, 2);
    assert.equal(await second, 2);
    assert.deepEqual([reads.length, held], [2, [null, 1]]);
  });

  it("is not kept while a change is about to be committed, nor given to a call that came during the read", async () => {
    const { reads, value, end } = leased();
    const first = value.get();
    const later = [value.get(), value.get()];
    await end(0, 1, false);
    assert.equal(await first, 1);
    await end(1, 2, false);
    assert.deepEqual(await Promise.all(later), [2, 2]);
    const last = value.get();
    await end(2, 3);
    assert.equal(await last, 3);
    assert.equal(await value.get(), 3);
    assert.equal(reads.length, 3);
  });

  it("is read again on request, and after a failure", async () => {
    const { reads, value, end } = leased();
    const first = value.get();
    reads[0]?.(new Error("away"));
    await assert.rejects(first, /away/);
    const second = value.get();
    await end(1, 1);
    assert.equal(await second, 1);
    const third = value.refresh();
    await end(2, 2);
    assert.deepEqual([await third, await value.get()], [2, 2]);
  });
});
