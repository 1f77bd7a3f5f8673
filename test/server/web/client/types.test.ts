import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { it } from "node:test";
import { generatedFiles } from "../../../../server/app/generated-types.ts";

for (const { path, make } of generatedFiles)
  it(`${basename(path)} is as \`npm run client:types\` writes it from the OpenAPI document`, async () => {
    assert.equal(readFileSync(path, "utf8"), await make());
  });
