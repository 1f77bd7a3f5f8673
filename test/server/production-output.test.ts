import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { randomBytes } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { eventually } from "../support/eventually.ts";
import { serviceEnv, temporaryDataDir } from "../support/process.ts";
import { builtProgram } from "../support/programs.ts";
import { testStores, type TestStores } from "../support/stores.ts";

type Line = Record<string, unknown>;

/** At a signal Node warns in each process, and a library of a worker writes to standard error. */
const noise = `import cluster from "node:cluster";
process.on("SIGUSR2", () => {
  process.emitWarning("noise of Node");
  if (cluster.isWorker) process.stderr.write("noise\\nin two lines\\n");
});`;

class Started {
  readonly child: ChildProcess;
  #output = "";

  constructor(env: NodeJS.ProcessEnv) {
    const args = ["--no-warnings", ...builtProgram("primary")];
    this.child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [this.child.stdout, this.child.stderr])
      stream?.on("data", (chunk: Buffer) => (this.#output += chunk.toString()));
  }

  /** Throws for a line that is no object; the last one may be incomplete. */
  lines(): Line[] {
    const whole = this.#output.slice(0, this.#output.lastIndexOf("\n") + 1);
    return whole
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Line);
  }

  async until(what: string, isThere: (line: Line) => boolean): Promise<void> {
    await eventually(what, () => this.lines().some(isThere), 60_000);
  }

  async end(signal?: NodeJS.Signals): Promise<Line[]> {
    if (signal) this.child.kill(signal);
    const { exitCode, signalCode } = this.child;
    if (exitCode === null && signalCode === null) await once(this.child, "close");
    return this.lines();
  }
}

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").map(Number);

describe("the output in production", () => {
  let stores: TestStores;
  const dataDir = temporaryDataDir();
  const settings = (own: Record<string, string> = {}) =>
    serviceEnv(dataDir, {
      APP_ENV: "production",
      APP_SECRET: randomBytes(32).toString("hex"),
      DATABASE_URL: stores.databaseUrl,
      REDIS_URL: stores.redisUrl,
      PUBLIC_BASE_URL: "https://games.example",
      SHUTDOWN_DELAY_SECONDS: "0",
      LOG_LEVEL: "info",
      ...own,
    });
  before(async () => {
    stores = await testStores();
  });
  after(async () => {
    await stores.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it("is log lines only, each with instance and version, also of what a process prints itself", async (t) => {
    const module = join(dataDir, "noise.mjs");
    writeFileSync(module, noise);
    const service = new Started(settings({ NODE_OPTIONS: `--import=${module}` }));
    t.after(() => service.end("SIGKILL"));
    await service.until("it is ready", ({ event }) => event === "service_ready");
    const { pid = 0 } = service.child;
    for (const each of [pid, ...childrenOf(pid)]) process.kill(each, "SIGUSR2");
    await service.until("the primary warns", ({ event }) => event === "node_warning");
    for (const role of ["http", "jobs"])
      await service.until(
        `what ${role} prints is a line`,
        ({ event, ...line }) =>
          event === "process_error_output" &&
          line["role"] === role &&
          /noise\nin two lines[^]*noise of Node/.test(String(line["reason"])),
      );
    const lines = await service.end("SIGTERM");
    assert.equal(service.child.exitCode, 0);
    const [{ instance, version } = {}] = lines;
    assert.match(String(instance), /^[a-z0-9]{12}$/);
    const others = lines.filter((line) => line["instance"] !== instance || !line["version"]);
    assert.deepEqual(others, []);
    assert.ok(typeof version === "string");
  });

  it("is one line for a start that fails, with the reason", async () => {
    const failures: readonly [Record<string, string>, RegExp][] = [
      [{ APP_SECRET: "", PUBLIC_BASE_URL: "" }, /APP_SECRET: required.*PUBLIC_BASE_URL: required/],
      [{ REDIS_URL: "redis://127.0.0.1:1" }, /REDIS_URL cannot be reached/],
      [{ DATABASE_URL: "postgres://nobody@127.0.0.1:1/none" }, /DATABASE_URL/],
    ];
    for (const [own, reason] of failures) {
      const service = new Started(settings(own));
      const failed = (await service.end()).filter(({ event }) => event === "start_failed");
      assert.equal(service.child.exitCode, 1);
      assert.equal(failed.length, 1);
      assert.match(JSON.stringify(failed[0]), reason);
    }
  });
});
