import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { countsOf, percentilesOf } from "../../../../server/platform/job-times/histogram.ts";
import { minuteMs, type Cell, type Retry } from "../../../../server/platform/job-times/recorder.ts";
import { keptPeriods, maxDues } from "../../../../server/platform/job-times/store.ts";
import { allQueues } from "../../../../workers/queues.ts";
import { openTimes, startedAt } from "./opened-times.ts";

describe("the store of job times", () => {
  let opened: Awaited<ReturnType<typeof openTimes>>;
  let seq = 0;
  before(async () => {
    opened = await openTimes();
  });
  afterEach(async () => {
    await opened.redis.flushall();
    opened.clock.advance(startedAt - opened.clock.now());
  });
  after(() => opened.stop());

  const write = (cells: Cell[], { name = "mail", retries = [] as Retry[] } = {}) =>
    opened.times.write({
      instance: "i",
      seq: ++seq,
      numDropped: 0,
      queues: [{ name, cells, retries }],
    });
  /** Jobs that completed so many minutes after `startedAt`. */
  const completed = (minutes: number, number = 1): Cell => [
    startedAt / minuteMs + minutes,
    ...([number, 0, 0] as const),
    ...([
      [10, number],
      [20, number],
    ] as [number[], number[]]),
  ];
  const done = async (unit: "minutes" | "hours", count: number, merged?: number) => {
    const { periods } = await opened.times.series("mail", unit, count, merged);
    return periods.map(({ numCompleted }) => numCompleted);
  };

  it("gives a period for each minute, the last one containing now", async () => {
    await write([completed(0, 2)]);
    await write([completed(0), completed(2)]);
    opened.clock.advance(2 * minuteMs + 59_999);
    const { periods, total } = await opened.times.series("mail", "minutes", 4);
    assert.deepEqual(
      periods.map(({ startMs, numCompleted }) => [startMs - startedAt, numCompleted]),
      [
        [-minuteMs, 0],
        [0, 3],
        [minuteMs, 0],
        [2 * minuteMs, 1],
      ],
    );
    assert.equal(total.numCompleted, 4);
    assert.equal(periods[0]?.wait, null);
  });

  it("reads minutes as zero after 24 hours, before and after their place is used again", async () => {
    const day = keptPeriods.minutes;
    await write([completed(0, 5)]);
    opened.clock.advance((day - 1) * minuteMs);
    assert.equal((await done("minutes", day))[0], 5);
    opened.clock.advance(minuteMs);
    assert.deepEqual([...new Set(await done("minutes", day))], [0]);
    await write([completed(day, 7)]);
    assert.deepEqual((await done("minutes", day)).slice(-1), [7]);
    // A process that could not write for a day.
    await write([completed(0, 9)]);
    assert.deepEqual(
      (await done("minutes", day)).filter((number) => number > 0),
      [7],
    );
    assert.equal(await opened.redis.hlen("jobs:times:mail:minutes"), 1);
  });

  it("keeps hours for 30 days", async () => {
    await write([completed(0, 2), completed(59, 3), completed(60, 4)]);
    opened.clock.advance(keptPeriods.hours * 60 * minuteMs - 1);
    assert.deepEqual((await done("hours", keptPeriods.hours)).slice(0, 3), [5, 4, 0]);
    opened.clock.advance(1);
    assert.deepEqual((await done("hours", keptPeriods.hours)).slice(0, 2), [4, 0]);
    const hours = opened.redis.ttl("jobs:times:mail:hours");
    assert.ok((await hours) > 29 * 86_400 && (await hours) <= 30 * 86_400);
  });

  it("adds the durations of batches, whichever bucket comes first", async () => {
    const cellOf = (...buckets: [bucket: number, count: number][]): Cell => {
      const counts = countsOf(new Map(buckets));
      return [startedAt / minuteMs, 1, 0, 0, [], counts];
    };
    await write([cellOf([30, 1], [33, 2])]);
    await write([cellOf([10, 3])]);
    await write([cellOf([40, 4])]);
    await write([cellOf([31, 5], [33, 1])]);
    const { total } = await opened.times.series("mail", "minutes", 1);
    const all = new Map([
      [10, 3],
      [30, 1],
      [31, 5],
      [33, 3],
      [40, 4],
    ] as const);
    assert.deepEqual(total.run, percentilesOf(all));
    assert.equal(total.wait, null);
  });

  it("merges periods, with the percentiles of all of their jobs", async () => {
    await write([completed(0, 2), completed(14, 3), completed(15, 4)]);
    opened.clock.advance(20 * minuteMs);
    assert.deepEqual((await done("minutes", 45, 15)).slice(1), [5, 4]);
    const { periods, stepMs } = await opened.times.series("mail", "minutes", 45, 15);
    assert.equal(stepMs, 15 * minuteMs);
    assert.equal(periods[1]?.startMs, startedAt);
    assert.equal(periods[1]?.run?.p50, periods[2]?.run?.p50);
  });

  it("gives the last hour of every queue", async () => {
    await write([completed(0, 2)], { name: "maintenance" });
    const hour = await opened.times.lastHour();
    assert.deepEqual(
      hour.map(({ queue, total, periods }) => [queue, total.numCompleted, periods.length]),
      allQueues.map(({ name }) => [name, name === "maintenance" ? 2 : 0, 60]),
    );
  });

  it("takes the due time of a retry once, and drops those due first beyond its bound", async () => {
    const due = (n: number): Retry => [`j${n}`, startedAt + n];
    await write([], { retries: [due(0), ["j0", startedAt + 100, startedAt / minuteMs]] });
    assert.equal(await opened.times.dueOf("mail", "j0"), null);
    const again = await write([], { retries: [["j0", startedAt + 200, startedAt / minuteMs]] });
    assert.deepEqual(again, []);
    for (let n = 0; n < maxDues + 3; n += 1_000)
      await write([], { retries: Array.from({ length: 1_000 }, (_, i) => due(n + i)) });
    assert.equal(await opened.redis.zcard("jobs:times:dues"), maxDues);
    assert.equal(await opened.times.dueOf("mail", "j0"), null);
    opened.clock.advance(2 * 86_400_000);
    await write([]);
    assert.equal(await opened.redis.zcard("jobs:times:dues"), 0);
  });
});
