import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { asset } from "../../../server/platform/assets.ts";
import { sourceFiles } from "../../support/imports.ts";

const root = join(import.meta.dirname, "../../..");
const files = sourceFiles(root, ["server", "workers", "actors", "importers", "db"]);

/** Written by the build, missing in the sources. */
const ofTheBuild = ["commit"];

describe("files that are read at run time", () => {
  it("exist under the name used in the code", () => {
    const names = files.flatMap((file) => {
      const text = readFileSync(join(root, file), "utf8");
      return [...text.matchAll(/\basset\("([^"]+)"\)/g)].map(([, name = ""]) => name);
    });
    assert.ok(names.length > 5);
    assert.deepEqual(
      names.filter((name) => !existsSync(asset(name)) && !ofTheBuild.includes(name)),
      [],
    );
  });

  it("are read only by that name, since the build copies nothing else", () => {
    const besides = /readFile(Sync)?\(\s*(new URL\(|join\(import\.meta)[^;]*import\.meta/;
    const isMissed = (file: string) =>
      file.endsWith(".ts") && besides.test(readFileSync(join(root, file), "utf8"));
    assert.deepEqual(files.filter(isMissed), []);
  });
});
