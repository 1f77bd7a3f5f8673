import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { shardCount, shardOf } from "../../../actors/log/keys.ts";
import { CachedAnswers } from "../../../actors/answers.ts";
import { parseOwner, targetOwners } from "../../../actors/cluster/owners.ts";
import { countCommand, type SenderCounts } from "../../../actors/sender-quota.ts";
import { Ticker } from "../../../actors/ticker.ts";
import { systemTiming } from "../../../actors/timing.ts";
import { fc } from "../../support/seed.ts";

const workers = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 12 }), {
  minLength: 1,
  maxLength: 6,
});

describe("placement of shards", () => {
  it("gives every worker about the same share", () => {
    const owners = targetOwners(["w1.aa", "w2.bb", "w3.cc", "w4.dd"]);
    for (const worker of ["w1.aa", "w2.bb", "w3.cc", "w4.dd"]) {
      const share = owners.filter((owner) => owner === worker).length;
      assert.ok(share > 180 && share < 340, `${worker} has ${share} of ${shardCount}`);
    }
  });

  it("moves only the shards of a worker that leaves", () => {
    fc.assert(
      fc.property(workers, fc.nat(), (names, pick) => {
        const gone = names[pick % names.length];
        const before = targetOwners(names);
        const after = targetOwners(names.filter((name) => name !== gone));
        before.forEach((owner, shard) => {
          if (owner !== gone) assert.equal(after[shard], owner);
        });
      }),
      { numRuns: 30 },
    );
  });

  it("does not depend on the order in which workers are listed", () => {
    fc.assert(
      fc.property(workers, (names) =>
        assert.deepEqual(targetOwners(names), targetOwners([...names].reverse())),
      ),
      { numRuns: 20 },
    );
  });

  it("spreads codes evenly over the shards", () => {
    const counts = new Array<number>(shardCount).fill(0);
    for (let i = 0; i < 100_000; i++) {
      const shard = shardOf(i.toString(32).toUpperCase().padStart(6, "A"));
      counts[shard] = (counts[shard] ?? 0) + 1;
    }
    assert.ok(
      Math.max(...counts) < 160 && Math.min(...counts) > 50,
      `${Math.min(...counts)}..${Math.max(...counts)}`,
    );
  });

  it("reads an owner record back", () => {
    assert.deepEqual(parseOwner("w1.x|7"), { nodeId: "w1.x", token: "w1.x|7" });
    assert.equal(parseOwner(""), null);
    assert.equal(parseOwner(null), null);
  });
});

describe("remembered answers of a lobby", () => {
  it("include the last eight of each seat, and reading them back in any order restores them", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 1, max: 3 }), fc.uuid()), { maxLength: 60 }),
        (given) => {
          const memory = new CachedAnswers();
          const fields: [string, string][] = [];
          for (const [seat, id] of given) fields.push(memory.put(seat, id, id));
          const stored = Object.fromEntries(Object.entries(Object.fromEntries(fields)).reverse());
          const back = CachedAnswers.from(stored);
          for (const seat of [1, 2, 3]) {
            const own = given.filter(([owner]) => owner === seat).map(([, id]) => id);
            for (const [i, id] of own.entries()) {
              const expected = i >= own.length - 8 ? { ok: true, body: id } : null;
              assert.deepEqual(memory.get(seat, id), expected);
              assert.deepEqual(back.get(seat, id), expected);
            }
          }
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe("seats that left", () => {
  it("are remembered up to the sixteen latest, and the fields of older ones are removed", () => {
    const memory = new CachedAnswers();
    const stored = new Set<string>();
    // First in, last out.
    for (let seat = 1; seat <= 40; seat++) stored.add(memory.put(41 - seat, "join", null)[0]);
    const seated = new Set(memory.senders());
    for (let seat = 1; seat <= 40; seat++) {
      stored.add(memory.put(seat, "leave", null, { account: null })[0]);
      seated.delete(seat);
      for (const field of memory.removeDeparted(seated)) assert.ok(stored.delete(field), field);
    }
    assert.deepEqual(
      memory.senders(),
      Array.from({ length: 16 }, (_, i) => 25 + i),
    );
    assert.equal(stored.size, 32);
    assert.deepEqual(memory.get(40, "leave"), { ok: true, body: null });
  });

  it("do not displace the seats that stay", () => {
    const memory = new CachedAnswers();
    for (let seat = 1; seat <= 30; seat++) memory.put(seat, "a", null);
    memory.removeDeparted(new Set([1, 2, 3]));
    assert.ok([1, 2, 3].every((seat) => memory.has(seat)));
    assert.equal(memory.senders().length, 3 + 16);
  });
});

describe("the ticker", () => {
  /** A manual clock for the ticker; sweeps run on mocked intervals. */
  it("fires each lobby once, at or after its last deadline, whatever the clock does", (t) => {
    t.mock.timers.enable({ apis: ["setInterval"] });
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.record({
              arm: fc.constantFrom("A", "B", "C"),
              in: fc.integer({ min: 0, max: 3000 }),
            }),
            fc.record({ step: fc.integer({ min: -2000, max: 5000 }) }),
          ),
          { maxLength: 60 },
        ),
        (moves) => {
          let now = 1_000_000;
          const due = new Map<string, number>();
          const ticker = new Ticker({ now: () => now }, systemTiming, (code) => {
            const deadline = due.get(code);
            assert.ok(deadline !== undefined, `${code} fired without a deadline`);
            assert.ok(now >= deadline, `${code} fired ${deadline - now} ms early`);
            due.delete(code);
          });
          for (const move of moves) {
            if ("arm" in move) {
              due.set(move.arm, now + move.in);
              ticker.arm(move.arm, now + move.in);
            } else {
              now += move.step;
              t.mock.timers.tick(100);
            }
          }
          now += 20_000;
          t.mock.timers.tick(100);
          assert.equal(due.size, 0, "every deadline was reached");
          ticker.stop();
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe("the limit of a seat", () => {
  const limit = { max: 3, windowMs: 60_000 };

  it("refuses the command after the last allowed one and returns the correct retry time", () => {
    const counts: SenderCounts = new Map();
    for (const now of [0, 10_000, 20_000]) assert.equal(countCommand(counts, 1, now, limit), null);
    assert.equal(countCommand(counts, 1, 20_500, limit), 40);
    assert.equal(countCommand(counts, 2, 20_500, limit), null, "another seat has its own");
    assert.equal(countCommand(counts, 1, 60_000, limit), null);
  });

  it("does not lock out a seat when the clock is set back", () => {
    const counts: SenderCounts = new Map();
    for (let i = 0; i < 5; i++) countCommand(counts, 1, 10_000_000, limit);
    assert.equal(countCommand(counts, 1, 0, limit), null);
  });
});
