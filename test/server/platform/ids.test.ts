import assert from "node:assert/strict";
import { test } from "node:test";
import { randomId } from "../../../server/platform/ids.ts";

test("ids are unique and have 128 bits", () => {
  const ids = Array.from({ length: 1_000 }, randomId);
  assert.equal(new Set(ids).size, ids.length);
  for (const id of ids) assert.match(id, /^[\w-]{22}$/);
  const bytes = ids.flatMap((id) => [...Buffer.from(id, "base64url")]);
  // Zeros would be bytes wiped before they were read.
  const zeros = bytes.filter((byte) => byte === 0).length;
  assert.ok(zeros < 2 * (bytes.length / 256), `${zeros} of ${bytes.length} bytes are 0`);
});
