import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { parseEnv, promisify } from "node:util";
import { parseConfig } from "../../server/platform/config/config.ts";
import {
  problemsOf,
  readDockerfile,
  readSettings,
  readShipped,
  shippedPath,
} from "./shipped-files.ts";
import { readUnit } from "./unit.ts";

const run = promisify(execFile);
const program = "/usr/bin/systemd-analyze";
const isMissing = !existsSync(program) && process.env["CI"] !== "true";
const unit = readUnit();

describe("the shipped systemd unit", () => {
  it(
    "passes systemd-analyze verify, which refuses a wrong one",
    {
      skip: isMissing && "systemd is not on this machine",
    },
    async () => {
      const folder = mkdtempSync(join(tmpdir(), "ember-unit-"));
      const file = join(folder, "emberline.service");
      const verify = async (text: string) => {
        writeFileSync(file, text.replace("/usr/bin/node", process.execPath));
        const { stdout, stderr } = await run(program, ["verify", "--man=no", file]);
        return stdout + stderr;
      };
      const text = readShipped("systemd/emberline.service");
      assert.equal(await verify(text), "");
      assert.match(await verify(text.replace("KillMode", "KilMode")), /KilMode/);
      rmSync(folder, { recursive: true });
    },
  );

  it("starts node as the image does, and lets it end in order", () => {
    const { entrypoint, env } = readDockerfile();
    assert.deepEqual(unit.exec, ["/usr/bin/node", ...entrypoint.slice(1)]);
    assert.equal(env["APP_ENV"], readSettings("systemd/emberline.env")["APP_ENV"]);
    const { SHUTDOWN_TIMEOUT_SECONDS: timeout } = parseConfig({});
    assert.ok(Number(unit.value("TimeoutStopSec")) > timeout);
    assert.equal(unit.value("KillMode"), "mixed", "the signal is for the first process");
  });

  it("has settings that a start in production accepts", () => {
    const folder = mkdtempSync(join(tmpdir(), "ember-credentials-"));
    const contents: Record<string, string> = {
      "app-secret": "k8Qn0vXc1tYb7uZe3wRa5sDf9gHj2lPo",
      "database-url": "postgres://db.example/games",
      "redis-url": "redis://cache.example",
      "smtp-url": "smtp://mail.example",
    };
    for (const name of unit.credentials) writeFileSync(join(folder, name), contents[name] ?? "");
    const config = parseConfig({
      ...readSettings("systemd/emberline.env"),
      ...unit.environment({ d: folder, S: "/var/lib", C: "/var/cache" }),
    });
    rmSync(folder, { recursive: true });
    assert.equal(config.DATABASE_URL, contents["database-url"]);
    assert.equal(config.DATA_DIR, "/var/lib/emberline");
    assert.deepEqual(problemsOf(config), []);
  });

  it("has a file of settings that a shell reads alike, as the console needs it", async () => {
    const file = shippedPath("systemd/emberline.env");
    const script = `env -i sh -c 'set -a && . ${file} && env'`;
    const { stdout } = await run("sh", ["-c", script]);
    const { PWD: _folder, ...settings } = parseEnv(stdout);
    assert.deepEqual({ ...settings }, { ...readSettings("systemd/emberline.env") });
  });

  it("has a file that migrates the connections of draining workers", () => {
    assert.match(readShipped("systemd/60-emberline.conf"), /^net\.ipv4\.tcp_migrate_req = 1$/m);
  });
});
