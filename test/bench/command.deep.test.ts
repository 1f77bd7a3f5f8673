import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { Report } from "../../bench/report/schema.ts";
import { scenarioNames } from "../../bench/scenarios.ts";
import { sharedService } from "../support/process.ts";
import { sourceFlags } from "../support/programs.ts";
import { runBenchCommand } from "./command.ts";

describe("npm run bench", () => {
  let out = "";
  before(() => {
    out = mkdtempSync(join(tmpdir(), "ember-bench-"));
  });
  after(() => rmSync(out, { recursive: true }));

  it("lists the scenarios with how long they take, and explains itself", async () => {
    const [list, help] = await Promise.all([runBenchCommand("--list"), runBenchCommand("--help")]);
    assert.deepEqual([list.code, help.code], [0, 0]);
    for (const name of scenarioNames())
      assert.match(list.output, new RegExp(`^${name} .+ s in all, \\d+ s quick$`, "m"));
    assert.match(help.output, /--i-may-load-this-host/);
  });

  it("refuses an unknown scenario, a load over --max-rate, and another host", async () => {
    const refused = await Promise.all([
      runBenchCommand("checkers"),
      runBenchCommand("http", "--rate", "50", "--max-rate", "20"),
      runBenchCommand("http", "--url", "https://staging.example", "--out", out),
    ]);
    assert.deepEqual(
      refused.map(({ code }) => code),
      [1, 1, 1],
    );
    const [unknown, fast, foreign] = refused.map(({ output }) => output);
    assert.match(unknown ?? "", /no scenario "checkers", only .*awards, /);
    assert.match(fast ?? "", /peaks at 50\/s, and --max-rate allows 20/);
    assert.match(foreign ?? "", /staging\.example is another host/);
  });

  it("refuses a place for its reports that is no folder, before any load", async () => {
    const { code, output } = await runBenchCommand("http", "--out", import.meta.filename);
    assert.equal(code, 1);
    assert.match(output, /^error: --out: EEXIST: /m);
  });

  it("names the scenarios of a bench, and the benches, when there is no such one", async () => {
    const { code, output } = await runBenchCommand("micro", "idle-service");
    assert.equal(code, 1);
    assert.match(output, /"idle-service" is neither a scenario of micro \(archive, idle, /);
    assert.match(output, /^ {2}rolling +two instances /m);
  });

  it("refuses faults on an instance that is not its own, and faults that it does not know", async () => {
    const url = "http://127.0.0.1:1";
    const [foreign, unknown] = await Promise.all([
      runBenchCommand("games", "--faults", "kill-worker", "--url", url, "--out", out),
      runBenchCommand("games", "--faults", "kill-worker,burn-worker", "--out", out),
    ]);
    assert.deepEqual([foreign.code, unknown.code], [1, 1]);
    assert.match(foreign.output, /--faults is for an own instance, without --url/);
    assert.match(unknown.output, /A fault is kill-worker, freeze-worker, .+, cut-streams/);
  });

  it("refuses a page of a comparison that it does not make", async () => {
    const { code, output } = await runBenchCommand("http", "--html", join(out, "http.html"));
    assert.equal(code, 1);
    assert.match(output, /--html is for --against/);
  });

  it("refuses peers where they could not do the same, and peers that it does not know", async () => {
    const [other, unknown, shape] = await Promise.all([
      runBenchCommand("games", "--peers", "colyseus", "--out", out),
      runBenchCommand("fan-out", "--peers", "photon", "--out", out),
      runBenchCommand("fan-out", "--peers", "colyseus", "--load", "ramp", "--rate", "1,9"),
    ]);
    assert.deepEqual([other.code, unknown.code, shape.code], [1, 1, 1]);
    assert.match(other.output, /games has nothing that a peer could do as well: try fan-out/);
    assert.match(unknown.output, /A peer is socketio, socketio-streams, colyseus/);
    assert.match(shape.output, /--peers needs a poisson load/);
  });

  it("says what the target lacks, and how to get it, before any load", async () => {
    const { url } = await sharedService();
    const { code, output } = await runBenchCommand("awards", "--url", url, "--out", out);
    assert.equal(code, 1);
    assert.match(
      output,
      /an award named id\.award\.bench of the game bench is missing: .+ awards:load/,
    );
  });

  it("still writes the report of a run that is interrupted", async () => {
    const args = [
      ...sourceFlags,
      "bench/main.ts",
      "http",
      "--seconds",
      "600",
      "--out",
      join(out, "cut"),
    ];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "pipe"] });
    const exited = once(child, "exit");
    for await (const chunk of child.stderr.setEncoding("utf8"))
      if (String(chunk).includes("poisson")) break;
    child.kill("SIGINT");
    const [code] = (await exited) as [number];
    assert.notEqual(code, 0);
    const [file = ""] = globSync("*.json", { cwd: join(out, "cut") });
    const report = JSON.parse(readFileSync(join(out, "cut", file), "utf8")) as Report;
    assert.equal(report.status, "interrupted");
    assert.equal(globSync("*.html", { cwd: join(out, "cut") }).length, 1);
  });
});
