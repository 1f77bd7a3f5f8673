import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { it } from "node:test";
import { generatedFiles } from "../../../../server/app/generated-types.ts";

const maxShown = 20;

/** Lines that only one of two texts has, marked as a diff marks them. */
function differences(before: string, after: string): string[] {
  const [old, now] = [before.split("\n"), after.split("\n")];
  const only = (mark: string, some: string[], others: string[]) =>
    some.filter((line) => !others.includes(line)).map((line) => mark + line);
  return [...only("-", old, now), ...only("+", now, old)].slice(0, maxShown);
}

for (const { path, make } of generatedFiles)
  it(`${basename(path)} is as \`npm run client:types\` writes it from the OpenAPI document`, async () => {
    const [committed, made] = [readFileSync(path, "utf8"), await make()];
    assert.deepEqual(differences(committed, made), []);
    // Their order counts too, but need not be printed.
    assert.ok(committed === made, "lines are in another order");
  });
