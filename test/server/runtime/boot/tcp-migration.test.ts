import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { migrationWarning } from "../../../../server/runtime/boot/tcp-migration.ts";

const production = { APP_ENV: "production", HTTP_WORKERS: 2 };
const on = { read: () => "1", platform: "linux" };
const off = { read: () => "0", platform: "linux" };
const missing = { read: () => null, platform: "linux" };

describe("the start on a system that resets connections of a draining worker", () => {
  const silent: [string, typeof production, typeof on | typeof missing][] = [
    ["the system migrates connections", production, on],
    ["there is one worker", { ...production, HTTP_WORKERS: 1 }, off],
    ["it is no production", { ...production, APP_ENV: "development" }, off],
    ["the system is no Linux", production, { ...missing, platform: "darwin" }],
  ];
  for (const [state, config, system] of silent)
    it(`does not warn when ${state}`, () => assert.equal(migrationWarning(config, system), null));

  it("warns with the setting that is off, or that does not exist", () => {
    assert.match(migrationWarning(production, off) ?? "", /tcp_migrate_req is 0: .*sysctl -w /);
    assert.match(
      migrationWarning(production, missing) ?? "",
      /no .*tcp_migrate_req \(Linux 5\.14\)/,
    );
  });
});
