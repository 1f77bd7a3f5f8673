import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { eventually } from "./support/eventually.ts";
import { processesIn } from "./support/own-folder.ts";

const support = join(import.meta.dirname, "support");
const begin = `import { it } from "node:test";
import { writeFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { startService } from "${support}/process.ts";
import { testStores } from "${support}/stores.ts";
const began = (name) => writeFileSync(import.meta.dirname + "/" + name, process.env.TEST_RUN_FOLDER);
`;
/** Where a run may be when it is interrupted. */
const files = {
  waits: "await testStores(); began('waits'); await wait(60_000);",
  loops: "await testStores(); began('loops'); for (;;);",
  starts: "const starting = startService(); began('starts'); await starting; await wait(60_000);",
};

describe("a test run that is interrupted", () => {
  let folder = "";
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "ember-runner-"));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** Starts the runner with these files; resolves to it and its folder once all of them have begun. */
  async function startRun(...names: (keyof typeof files)[]): Promise<[ChildProcess, string]> {
    const paths = names.map((name) => join(folder, `${name}.test.ts`));
    for (const [at, name] of names.entries()) {
      rmSync(join(folder, name), { force: true });
      writeFileSync(paths[at] ?? "", `${begin}it("${name}", async () => { ${files[name]} });\n`);
    }
    const { NODE_TEST_CONTEXT: _, TEST_DATABASE_URL: _url, ...env } = process.env;
    const runner = spawn(process.execPath, ["--import", "tsx", "test/run.ts", ...paths], {
      env,
      stdio: "ignore",
    });
    await eventually("every file has begun", () =>
      names.every((name) => existsSync(join(folder, name))),
    );
    return [runner, readFileSync(join(folder, names[0] ?? ""), "utf8")];
  }

  function assertNothingLeft(run: string): void {
    assert.deepEqual(processesIn(run), []);
    assert.equal(existsSync(run), false);
  }

  for (const signal of ["SIGTERM", "SIGINT"] as const)
    it(`leaves no process and no file after ${signal}`, async () => {
      const [runner, run] = await startRun("waits", "loops", "starts");
      assert.notDeepEqual(processesIn(run), []);
      const exited = once(runner, "exit");
      runner.kill(signal);
      const [code] = (await exited) as [number | null];
      assert.notEqual(code, 0);
      assertNothingLeft(run);
    });

  it("ends at once with the second signal, and leaves nothing either", async () => {
    const [runner, run] = await startRun("loops", "waits");
    const exited = once(runner, "exit");
    runner.kill("SIGTERM");
    // Sooner it counts as the same Ctrl-C.
    await pause(700);
    runner.kill("SIGTERM");
    await exited;
    assertNothingLeft(run);
  });
});
