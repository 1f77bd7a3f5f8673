import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { LineBuffer } from "../../../server/core/line-buffer.ts";

describe("the buffer of log lines", () => {
  it("hands on every line once and in order, whatever their lengths", () => {
    const lines = fc.array(fc.integer({ min: 1, max: 20_000 }), { maxLength: 40 });
    fc.assert(
      fc.property(lines, (lengths) => {
        const written: string[] = [];
        const buffer = new LineBuffer((text) => written.push(text));
        const given = lengths.map((length, i) => String.fromCharCode(97 + (i % 26)).repeat(length));
        for (const line of given) buffer.add(line);
        buffer.flush();
        buffer.flush();
        assert.equal(written.join(""), given.join(""));
      }),
      { numRuns: 200 },
    );
  });

  it("lets no line wait for the next one", async () => {
    const written = new Promise<string>((resolve) => {
      new LineBuffer(resolve).add("alone\n");
      // The buffer's own timer does not keep a process alive.
      setTimeout(resolve, 5_000, "too late").unref();
      setImmediate(() => setTimeout(() => {}, 200));
    });
    assert.equal(await written, "alone\n");
  });
});
