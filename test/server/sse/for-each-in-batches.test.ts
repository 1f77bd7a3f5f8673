import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { forEachInBatches } from "../../../server/sse/stream/for-each-in-batches.ts";
import { hubLimits } from "../../../server/sse/delivery/limits.ts";
import type { EventStream } from "../../../server/sse/stream/stream.ts";
import { Writer } from "../../../server/sse/stream/writer.ts";

/** What was done after each turn of the event loop, until it is `count`. */
async function countByTurn(done: () => number, count: number): Promise<number[]> {
  const counts: number[] = [];
  while (done() < count) {
    await nextTurn();
    counts.push(done());
  }
  return counts;
}

function openWriter(hasMore: (n: number) => boolean = () => false) {
  const written: number[] = [];
  const fail = (error: unknown) => assert.fail(String(error));
  const writer = new Writer(
    { ...hubLimits, writesPerTurn: 10 },
    { onError: fail, onTurn: () => undefined },
  );
  const streamOf = (n: number) =>
    ({
      isClosed: false,
      flush() {
        written.push(n);
        return hasMore(n);
      },
    }) as unknown as EventStream;
  return { writer, written, streamOf };
}

test("a batch writes to a bounded number of streams, the longest waiting first", async () => {
  const { writer, written, streamOf } = openWriter();
  const streams = Array.from({ length: 25 }, (_, n) => streamOf(n));
  writer.markFlushable({ collect: (add) => streams.forEach(add) });
  assert.deepEqual(await countByTurn(() => written.length, 25), [10, 20, 25]);
  assert.deepEqual(
    written,
    streams.map((_, n) => n),
  );
});

test("a stream with more to send waits behind the others", async () => {
  let left = 30;
  const { writer, written, streamOf } = openWriter((n) => n === 0 && (left -= 1) > 0);
  for (let n = 0; n < 15; n++) writer.add(streamOf(n));
  await countByTurn(() => written.length, 44);
  assert.deepEqual(written.slice(0, 17), [...Array.from({ length: 15 }, (_, n) => n), 0, 0]);
  assert.equal(left, 0);
});

test("thousands of streams are processed in several batches", async () => {
  const seen: number[] = [];
  const all = new Set(Array.from({ length: 25 }, (_, n) => n));
  const looking = forEachInBatches(all, 10, (n) => {
    all.delete(n);
    seen.push(n);
  });
  assert.equal(seen.length, 10);
  assert.deepEqual(await countByTurn(() => seen.length, 25), [20, 25]);
  await looking;
  assert.equal(all.size, 0);
});
