import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, it } from "node:test";
import { retiredFiles, retiredIdentifiers, type RetiredName } from "./support/retired-names.ts";

const root = join(import.meta.dirname, "..");
const table = "test/support/retired-names.ts";
const files = globSync("{server,workers,actors,importers,db,bench,test}/**/*.ts", { cwd: root })
  .filter((file) => !file.startsWith("test/upgrade/") && file !== table)
  .toSorted();
const words = new Map(
  files.map((file) => [file, new Set(readFileSync(join(root, file), "utf8").match(/[\w$]+/g))]),
);

const namesOf = (retired: readonly RetiredName[]) => retired.map(({ name }) => name);

/** Places of a retired name outside its allowed files. */
const findings = (
  retired: readonly RetiredName[],
  isIn: (file: string, name: string) => boolean,
): string[] =>
  retired.flatMap(({ name, instead, allowedIn = [] }) =>
    files
      .filter((file) => isIn(file, name) && !allowedIn.includes(file))
      .map((file) => `${file}: ${name}, use ${instead}`),
  );

const hasWord = (file: string, name: string): boolean => words.get(file)?.has(name) === true;
const hasName = (file: string, name: string): boolean => basename(file) === name;

describe("the vocabulary", () => {
  it("uses no retired identifier", () => {
    assert.deepEqual(findings(retiredIdentifiers, hasWord), []);
  });

  it("uses no retired file name", () => {
    assert.deepEqual(findings(retiredFiles, hasName), []);
  });

  it("lists each retired name once, in order", () => {
    for (const names of [namesOf(retiredIdentifiers), namesOf(retiredFiles)])
      assert.deepEqual(names, [...new Set(names)].toSorted());
  });

  it("allows a retired name only in files that use it", () => {
    const unused = (retired: readonly RetiredName[], isIn: typeof hasWord) =>
      retired.flatMap(({ name, allowedIn = [] }) =>
        allowedIn.filter((file) => !isIn(file, name)).map((file) => `${file}: ${name}`),
      );
    assert.deepEqual(
      [...unused(retiredIdentifiers, hasWord), ...unused(retiredFiles, hasName)],
      [],
    );
  });
});
