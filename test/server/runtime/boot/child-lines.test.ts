import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { describe, it } from "node:test";
import { passLines } from "../../../../server/runtime/boot/child-lines.ts";
import { fc } from "../../../support/seed.ts";

const lineOf = (source: number, n: number, length: number) =>
  `${JSON.stringify({ source, n, text: "é".repeat(length) })}\n`;

/** Yields `text` in pieces of these lengths, repeatedly. */
function inPieces(text: string, lengths: readonly number[]): Buffer[] {
  const bytes = Buffer.from(text);
  const pieces: Buffer[] = [];
  for (let at = 0, n = 0; at < bytes.length; n++) {
    const length = lengths[n % lengths.length] ?? 1;
    pieces.push(bytes.subarray(at, at + length));
    at += length;
  }
  return pieces;
}

/** An output that accepts blocks slowly, and counts data written in spite of backpressure. */
function slowOutput() {
  const taken: Buffer[] = [];
  let given = 0;
  let isFull = false;
  let maxWasted = 0;
  let wasted = 0;
  const waiting: (() => void)[] = [];
  const output = {
    forward(block: Buffer) {
      taken.push(block);
      wasted = isFull ? wasted + 1 : 0;
      maxWasted = Math.max(maxWasted, wasted);
      given++;
      if (given % 3 !== 0 || isFull) return !isFull;
      isFull = true;
      setImmediate(() => {
        isFull = false;
        for (const work of waiting.splice(0)) work();
      });
      return false;
    },
    onceDrained: (work: () => void) => void waiting.push(work),
  };
  return { output, text: () => Buffer.concat(taken).toString(), maxWasted: () => maxWasted };
}

describe("the output lines of several processes", () => {
  it("arrive complete and in order for each process, whatever chunks they come in", async () => {
    const pieces = fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 8 });
    const lengths = fc.array(fc.nat(200), { maxLength: 30 });
    const process = fc.record({ pieces, lengths, isKilled: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(process, { minLength: 1, maxLength: 4 }), async (processes) => {
        const { output, text, maxWasted } = slowOutput();
        const written = processes.map(({ lengths: some }, source) =>
          some.map((length, n) => lineOf(source, n, length)),
        );
        await Promise.all(
          processes.map(async ({ pieces: some, isKilled }, source) => {
            const stream = new PassThrough();
            const passed = passLines(stream, output);
            const rest = isKilled ? '{"source":' : "";
            for (const piece of inPieces((written[source] ?? []).join("") + rest, some)) {
              stream.write(piece);
              if (piece.length % 5 === 0) await new Promise(setImmediate);
            }
            stream.end();
            await passed;
          }),
        );
        const found = text().split("\n").slice(0, -1);
        for (const [source, own] of written.entries())
          assert.deepEqual(
            found.filter((line) => (JSON.parse(line) as { source: number }).source === source),
            own.map((line) => line.trimEnd()),
          );
        // Each process may have had one block in flight.
        assert.ok(maxWasted() <= processes.length, `${maxWasted()} blocks came to a full output`);
      }),
      { numRuns: 100 },
    );
  });

  it("are buffered up to a limit when a line does not end", async () => {
    const stream = new PassThrough();
    const { output, text } = slowOutput();
    const passed = passLines(stream, output);
    const part = Buffer.alloc(64 * 1024, "x");
    for (let n = 0; n < 40; n++) {
      stream.write(part);
      await new Promise(setImmediate);
    }
    assert.ok(text().length > 1024 * 1024);
    stream.end("\n");
    await passed;
    assert.equal(text(), `${"x".repeat(40 * part.length)}\n`);
  });
});
