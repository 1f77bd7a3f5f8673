import assert from "node:assert/strict";
import { chmodSync, lchownSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { silentLogger } from "../../../../server/platform/log/logger.ts";
import { startLocalPostgres, withClient } from "../../../../server/runtime/stores/postgres.ts";

it("the service starts on data that was moved, and the data belongs to the user who copied it", async () => {
  const dir = mkdtempSync(join(tmpdir(), "ember-moved-"));
  chmodSync(dir, 0o755);
  const start = (name: string) => {
    const dataDir = join(dir, name);
    const socketDir = join(dir, "s");
    return startLocalPostgres({ dataDir, socketDir, log: silentLogger, fsync: false });
  };
  try {
    const before = await start("here");
    await withClient(before.url, (client) => client.query("create table kept (n int)"));
    await before.stop();
    const there = join(dir, "there");
    renameSync(join(dir, "here"), there);
    // As root, this is not the account Postgres runs as.
    const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
    for (const name of [".", ...readdirSync(there, { recursive: true, encoding: "utf8" })])
      lchownSync(join(there, name), uid, gid);
    const after = await start("there");
    const { rows } = await withClient(after.url, (client) => client.query("select n from kept"));
    assert.deepEqual(rows, []);
    await after.stop();
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});
