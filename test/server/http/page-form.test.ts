import assert from "node:assert/strict";
import { describe, it } from "node:test";
import Type from "typebox";
import { readPageForm } from "../../../server/http/pipeline/page-form.ts";

const schema = Type.Object({
  note: Type.String(),
  reason: Type.Optional(Type.String()),
  more: Type.Optional(Type.Integer()),
});
const read = (text: string) => readPageForm(Buffer.from(text), schema);

describe("the form of a page", () => {
  it("leaves out empty fields that may be missing", () => {
    assert.deepEqual(read("note=&reason=&more="), { note: "" });
  });

  it("reads whole numbers where the schema wants them, and no other text as one", () => {
    assert.deepEqual(read("note=12&more=12"), { note: "12", more: 12 });
    for (const text of ["1.5", "twelve", "1e3", " 1", "9".repeat(16)])
      assert.equal(typeof read(`note=&more=${encodeURIComponent(text)}`)["more"], "string", text);
  });

  it("hands on undeclared fields, which the schema of the body drops", () => {
    assert.deepEqual(read("note=a&constructor=1"), { note: "a", constructor: "1" });
    assert.deepEqual(readPageForm(null, undefined), {});
  });
});
