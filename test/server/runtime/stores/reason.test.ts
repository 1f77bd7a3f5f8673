import assert from "node:assert/strict";
import { it } from "node:test";
import { reasonIn } from "../../../../server/runtime/stores/daemon.ts";

const full = 'FATAL:  could not write to file "base/4/1249": No space left on device';
const probed = "FATAL:  the database system is not yet accepting connections";

it("a store that exits reports its reason, whatever it prints afterwards", () => {
  const outputs = [
    `${full}\nSTATEMENT:  CREATE DATABASE template0\n\nchild process exited with exit code 1\ninitdb: removing data directory "d"\n`,
    `${full}\n${probed}\nDETAIL:  Consistent recovery state has not been yet reached.\n`,
  ];
  assert.deepEqual(outputs.map(reasonIn), [full, full]);
  assert.equal(reasonIn("PANIC:  no room\nshutting down\n"), "PANIC:  no room");
  assert.equal(reasonIn(`${probed}\none\ntwo\n`), "one | two");
  assert.equal(reasonIn(""), "no output");
});
