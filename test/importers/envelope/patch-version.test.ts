import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  canonicalOf,
  compareVersions,
  isCanonical,
} from "../../../importers/envelope/patch-version.ts";

describe("the version of a patch", () => {
  it("is parsed from the spelling that upstream writes", () => {
    const cases: [raw: string, canonical: string | null][] = [
      ["1", "1.0.0+build.0"],
      ["1.2.3", "1.2.3+build.0"],
      ["0.1.2.8542", "0.1.2+build.8542"],
      ["0.1.2.8542.7", "0.1.2+build.8542.7"],
      ["0.1.2.8542-7", "0.1.2+build.8542.7"],
      ["01.002-0", "1.2.0+build.0.0"],
      ["1.2.3-rc.1", null],
      ["1.2.3-1rc", null],
      ["1.0-rc2.3", null],
      ["1.0-beta2", null],
      ["1.2.3.4.5-rc", null],
      ["1.2.3.4.5-6", null],
      ["1.0-rc", null],
      ["1.2.3.4.5.6", null],
      ["v1", null],
      ["1.", null],
      ["1..2", null],
      ["1-", null],
      ["1-a_b", null],
      ["", null],
      [`${"9".repeat(16)}.0`, null],
    ];
    for (const [raw, canonical] of cases) assert.equal(canonicalOf(raw), canonical, raw);
  });

  it("has exactly one canonical spelling", () => {
    for (const version of ["0.0.0+build.0", "1.20.3+build.4.0", "1.2.3+build.4.5"])
      assert.ok(isCanonical(version), version);
    for (const version of [
      "1.2.3",
      "1.2.3+build",
      "01.2.3+build.0",
      "1.2+build.0",
      "1.2.3 build.0",
    ])
      assert.ok(!isCanonical(version), version);
  });

  it("is ordered by its numbers; a missing last number sorts first", () => {
    const ordered = [
      "0.9.99+build.9999",
      "1.0.0+build.0",
      "1.0.0+build.0.0",
      "1.0.0+build.0.9",
      "1.0.0+build.0.10",
      "1.0.0+build.2",
      "1.0.0+build.10",
      "1.2.0+build.0",
      "1.10.0+build.0",
      "2.0.0+build.0",
    ];
    for (const [at, version] of ordered.entries())
      for (const [other, later] of ordered.entries())
        assert.equal(Math.sign(compareVersions(version, later)), Math.sign(at - other), version);
  });
});
