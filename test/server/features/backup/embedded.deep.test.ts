import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { promisify } from "node:util";
import { serviceEnv, startService, temporaryDataDir } from "../../../support/process.ts";
import { builtProgram } from "../../../support/programs.ts";
import { temporaryFolders } from "./targets.ts";

const folders = temporaryFolders();

/** The console on the stores of a data folder, running or not. */
async function runConsole(dataDir: string, ...args: string[]): Promise<Record<string, unknown>> {
  const program = [...builtProgram("console"), "--json", ...args];
  const { stdout } = await promisify(execFile)(process.execPath, program, {
    env: serviceEnv(dataDir),
  });
  return JSON.parse(stdout) as Record<string, unknown>;
}

async function post(url: string, path: string, body: object) {
  const answer = await fetch(`${url}/v1/gateway/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const { body: session } = (await answer.json()) as {
    body: { player: { id: number }; refresh_token: string };
  };
  return session;
}

describe("a backup of a service with embedded stores", () => {
  const [first, second] = [temporaryDataDir(), temporaryDataDir()];
  const folder = join(folders.folder(), "backup");
  after(() => {
    for (const dir of [first, second]) rmSync(dir, { recursive: true, force: true });
    folders.clean();
  });

  it("is made while it runs, and starts in a new data folder", async () => {
    const service = await startService({ dataDir: first });
    const guest = await post(service.url, "guest", {});
    const created = await runConsole(first, "backup:create", "--to", folder);
    const { refresh_token } = await post(service.url, "refresh", guest);
    await service.stop();
    const restored = await runConsole(second, "backup:restore", "--from", folder);
    assert.deepEqual(restored["num_rows"], created["num_rows"]);
    const again = await startService({ dataDir: second });
    try {
      // Rotated after the backup.
      const { player } = await post(again.url, "refresh", { refresh_token });
      assert.equal(player.id, guest.player.id);
      const later = await post(again.url, "guest", {});
      assert.ok(later.player.id > guest.player.id + 1_000_000 - 1);
    } finally {
      await again.stop();
    }
  });
});
