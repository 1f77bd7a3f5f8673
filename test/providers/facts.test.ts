import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { dirname } from "node:path";
import { describe, it } from "node:test";
import {
  factsFile,
  readFacts,
} from "../../server/features/questions/providers/question-bank/facts.ts";

/** Lists that code turns into questions. */
const lists = new Set(["cities", "countries", "elements"]);
const names = readdirSync(dirname(factsFile("art")))
  .map((file) => file.replace(/\.json$/, ""))
  .filter((name) => !lists.has(name));

describe("a file of facts", () => {
  for (const name of names)
    it(`matches its schema, and its rows match their columns: ${name}`, async () => {
      for (const table of await readFacts(name)) {
        const columns = "terms" in table ? ["term", "clue", "detail"] : table.columns;
        for (const row of table.rows) assert.equal(row.length, columns.length, row.join(" | "));
        if ("terms" in table) continue;
        for (const { column, near, by } of table.ask)
          for (const named of [column, near ?? column, by ?? column])
            assert.ok(columns.includes(named), `${name}: no column ${named}`);
      }
    });
});
