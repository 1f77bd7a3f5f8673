import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createEventParser } from "../../../../server/web/client/emberline.ts";
import { fc } from "../../../support/seed.ts";
import { refusedWith } from "./faulty-service.ts";

describe("the event stream parser", () => {
  it("parses the same events wherever the text is split", () => {
    const text =
      "\uFEFFretry: 700\n\n:\n\nid: 1\nevent: a\ndata: {\ndata: }\n\nid: 2\r\nevent:b\r\ndata:x\r\n\r\n" +
      "event: c\rdata: y\r\rid: 7\n\nevent: none\n\nid\ndata: ü€😀\n\ndata: cut off";
    const expected = [
      { id: "1", event: "a", data: "{\n}" },
      { id: "2", event: "b", data: "x" },
      { id: null, event: "c", data: "y" },
      { id: "7", event: "message", data: "" },
      { id: "", event: "message", data: "ü€😀" },
    ];
    const bytes = new TextEncoder().encode(text);
    const cuts = fc.array(fc.nat({ max: bytes.length }), { maxLength: 12 });
    fc.assert(
      fc.property(cuts, (places) => {
        const decoder = new TextDecoder();
        const parse = createEventParser();
        const edges = [0, ...places.toSorted((a, b) => a - b), bytes.length];
        const parts = edges
          .slice(1)
          .map((end, i) => parse(decoder.decode(bytes.slice(edges[i], end), { stream: true })));
        assert.deepEqual(
          parts.flatMap(({ frames }) => frames),
          expected,
        );
        assert.deepEqual(
          parts.map(({ retryMs }) => retryMs).filter((ms) => ms !== null),
          [700],
        );
      }),
    );
  });

  it("refuses an event without an end", () => {
    const parse = createEventParser(1_000);
    parse(`data: ${"x".repeat(900)}\n`);
    assert.throws(() => parse("y".repeat(200)), refusedWith("network:broken_stream"));
  });
});
