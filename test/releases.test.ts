import assert from "node:assert/strict";
import { describe, it } from "node:test";
import packageJson from "../package.json" with { type: "json" };
import { migrations } from "../db/migrations/index.ts";
import { git, lastRelease, needCommit, releases } from "./support/releases.ts";

/** Whether the version of `one` is higher than that of `other`. */
function isHigher(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => text.split(".").map(Number));
  const at = a?.findIndex((part, i) => part !== b?.[i]) ?? -1;
  return at >= 0 && (a?.[at] ?? 0) > (b?.[at] ?? 0);
}

const versionAt = (commit: string): string =>
  (JSON.parse(git("show", `${commit}:package.json`)) as { version: string }).version;

describe("the list of releases", () => {
  it("compares versions by their numbers", () => {
    const pairs: [one: string, other: string, isHigher: boolean][] = [
      ["0.2.0", "0.1.0", true],
      ["0.10.0", "0.9.9", true],
      ["1.0.0", "0.9.0", true],
      ["0.1.0", "0.1.0", false],
      ["0.1.9", "0.2.0", false],
    ];
    for (const [one, other, expected] of pairs)
      assert.equal(isHigher(one, other), expected, `${one} ${other}`);
  });

  it("rises, and each version is that of its commit, which this one descends from", () => {
    for (const [i, release] of releases.entries()) {
      const { version, commit } = release;
      const previous = releases[i - 1]?.version ?? "0.0.0";
      assert.ok(isHigher(version, previous), `${version} after ${previous}`);
      needCommit(release);
      assert.equal(versionAt(commit), version, commit);
      assert.doesNotThrow(() => git("merge-base", "--is-ancestor", commit, "HEAD"), commit);
    }
  });

  it("has the version of package.json, which only the commit of a release raises", () => {
    const { version } = lastRelease();
    if (packageJson.version === version) return;
    assert.ok(isHigher(packageJson.version, version), `${packageJson.version} after ${version}`);
    const isBeingMade = versionAt("HEAD") === version || versionAt("HEAD~1") === version;
    assert.ok(
      isBeingMade,
      `record ${packageJson.version} with its commit in .deploy/releases.json`,
    );
  });

  it("names the last migration of each, and no later one was put before it", () => {
    const names = migrations.map(({ name }) => name);
    for (const { commit, migration } of releases) {
      const files = git("ls-tree", "--name-only", commit, "db/migrations/")
        .split("\n")
        .flatMap((path) => /(Migration\w+)\.ts$/.exec(path)?.[1] ?? []);
      assert.deepEqual(names.slice(0, names.indexOf(migration) + 1).toSorted(), files.toSorted());
    }
  });

  it("says what to fetch when the history is missing", () => {
    const release = { version: "9.9.9", commit: "0".repeat(40), migration: "" };
    assert.throws(() => needCommit(release), /0{40} of release 9\.9\.9 .*run `git fetch /);
  });
});
