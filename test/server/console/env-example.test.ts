import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { parseEnv } from "node:util";
import { envExample } from "../../../server/console/config-table.ts";
import { parseConfig } from "../../../server/platform/config/config.ts";

const text = readFileSync(join(import.meta.dirname, "../../../.env.example"), "utf8");

describe(".env.example", () => {
  it("lists every setting as the console prints it", () => {
    assert.equal(
      text,
      envExample(),
      "print it with: npm run console -- config --env > .env.example",
    );
  });

  it("changes no setting, whether its lines are commented out or not", () => {
    assert.deepEqual(parseEnv(text), {});
    const uncommented = parseEnv(text.replaceAll(/^# (?=[A-Z_]+=)/gm, ""));
    assert.deepEqual(parseConfig(uncommented as Record<string, string>), parseConfig({}));
  });
});
