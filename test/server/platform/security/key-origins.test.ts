import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseInstant } from "../../../../server/platform/time/instants.ts";
import {
  isOriginCovered,
  normalizeKeyOrigin,
} from "../../../../server/platform/security/key-origins.ts";
import { randomBelow } from "../../../support/random.ts";
import { isTimeZone } from "../../../../server/platform/time/time-zones.ts";

describe("an origin entry of a key", () => {
  it("is a host, a host with a port, or a wildcard over at least two labels", () => {
    const good: [string, string][] = [
      ["Example.COM", "example.com"],
      [" a.b ", "a.b"],
      ["*.A.b", "*.a.b"],
      ["localhost:3000", "localhost:3000"],
      ["*.a.b:8443", "*.a.b:8443"],
      ["127.0.0.1", "127.0.0.1"],
      ["bücher.example", "xn--bcher-kva.example"],
      ["*.bücher.example:81", "*.xn--bcher-kva.example:81"],
    ];
    for (const [text, stored] of good) assert.equal(normalizeKeyOrigin(text), stored);
    const bad = ["", "*", "*.com", "*.", "*a.b", "a.*.b", "https://a.b", "a.b/", "a.b/c", "//a.b"];
    bad.push(
      "a b.c",
      "a..b",
      ".a.b",
      "a.b.",
      "-a.b",
      "a.b:",
      "a.b:0",
      "a.b:65536",
      "a.b:x",
      "u@a.b",
    );
    bad.push(
      "null",
      "a_b.c",
      "a.b?x",
      "a.b#x",
      "[::1]",
      `${"a".repeat(64)}.b`,
      "x.".repeat(200) + "b",
    );
    const wrong = bad.filter((text) => text !== "null" && normalizeKeyOrigin(text) !== null);
    assert.deepEqual(wrong, []);
  });

  it("matches whole labels only, and its port if it has one", () => {
    const cases: [string, string | undefined, boolean][] = [
      ["a.b", "https://a.b", true],
      ["a.b", "http://a.b:8080", true],
      ["a.b", "https://A.B", true],
      ["a.b", "https://x.a.b", false],
      ["a.b", "https://a.b.evil", false],
      ["a.b", "https://xa.b", false],
      ["*.a.b", "https://x.a.b", true],
      ["*.a.b", "https://y.x.a.b", true],
      ["*.a.b", "https://a.b", false],
      ["*.a.b", "https://xa.b", false],
      ["*.a.b", "https://.a.b", false],
      ["*.a.b", "https://x.a.b.evil", false],
      ["a.b:443", "https://a.b", true],
      ["a.b:443", "http://a.b", false],
      ["a.b:80", "http://a.b", true],
      ["a.b:3000", "http://a.b:3000", true],
      ["a.b:3000", "http://a.b", false],
      ["a.b", "null", false],
      ["a.b", undefined, false],
      ["a.b", "", false],
      ["a.b", "a.b", false],
      ["a.b", "file://a.b", false],
      ["a.b", "https://evil@a.b.evil", false],
      ["null", "null", false],
    ];
    for (const [entry, origin, expected] of cases)
      assert.equal(isOriginCovered([entry], origin), expected, `${entry} ${origin}`);
    assert.equal(isOriginCovered(["x.y", "a.b"], "https://a.b"), true);
    assert.equal(isOriginCovered([], undefined), true);
  });

  it("matches only whole labels, however hostile the parts of an origin are", () => {
    const parts = [
      "https://",
      "http://",
      "//",
      "\\",
      "/",
      "@",
      ":",
      "#",
      "?",
      ".",
      "%2e",
      " ",
      "\t",
    ];
    parts.push("a.b", "x.a.b", "xa.b", "b", "evil", "。", "\u00ad", "null", ":443", ":8443", "A.B");
    let covered = 0;
    const random = randomBelow(7);
    for (let n = 0; n < 20_000; n++) {
      let origin = n % 2 === 0 ? "https://" : "";
      for (let left = 1 + (n % 5); left > 0; left--) origin += parts[random(parts.length)];
      if (!isOriginCovered(["*.a.b"], origin)) continue;
      covered += 1;
      assert.match(new URL(origin).hostname, /^.*[^.]\.a\.b$/, origin);
      assert.match(origin, /^https?:\/\/[^/\\@?#]*$/i, origin);
    }
    assert.ok(covered > 50);
  });
});

describe("a timestamp", () => {
  it("is any ISO 8601 date or time, and nothing else", () => {
    const good: [string, string][] = [
      ["2030-02-28T10:00:00+00:00", "2030-02-28T10:00:00.000Z"],
      ["2030-02-28T10:00:00Z", "2030-02-28T10:00:00.000Z"],
      ["2030-02-28T10:00:00.123456+02:00", "2030-02-28T08:00:00.123Z"],
      ["2030-02-28T10:00:00-0130", "2030-02-28T11:30:00.000Z"],
      ["2030-02-28T10:00", "2030-02-28T10:00:00.000Z"],
      ["2028-02-29", "2028-02-29T00:00:00.000Z"],
    ];
    for (const [text, iso] of good)
      assert.equal(new Date(parseInstant(text) ?? 0).toISOString(), iso);
    for (const text of [
      "",
      "tomorrow",
      "2030",
      "2030-02-30",
      "2030-13-01",
      "2030-00-10",
      "2030-01-00",
      "2030-01-01T25:00:00Z",
      "2030-01-01 10:00:00",
      "1900000000",
      "2030-01-01T10:00:00Z\n",
      "+02030-01-01",
      "2030-01-01T10:00:00+99:99",
    ])
      assert.equal(parseInstant(text), null, text);
  });
});

describe("a time zone", () => {
  it("is a name known to the runtime, and no offset", () => {
    for (const name of ["UTC", "Asia/Kolkata", "Etc/GMT+5", "America/Argentina/Buenos_Aires"])
      assert.equal(isTimeZone(name), true, name);
    for (const name of ["", "+01:00", "-05", "Mars/Base", "UTC ", "Europe/", "PST", "a".repeat(65)])
      assert.equal(isTimeZone(name), false, name);
  });
});
