import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { sql } from "kysely";
import { rowsOf } from "../../../db/queries/rows.ts";
import type { Options } from "../../../server/console/command.ts";
import { builtProgram } from "../../support/programs.ts";
import { projectionOf } from "../../../db/projections/refresh.ts";
import { knownMisreadings } from "../../../server/http/probe/builds.ts";
import { importEnvelope } from "../../../importers/pipeline/import.ts";
import { codexImport } from "../../../workers/queues.ts";
import { envelope, importTime } from "../../support/archive.ts";
import { freePort } from "../../support/free-port.ts";
import { smallGame, smallTexts } from "../../support/projected-game.ts";
import { app, dataDir, run, refused, audited, startsConsoleApp } from "./console-app.ts";
import { noOrigin } from "../../../server/platform/origin.ts";

describe("the console for programs and data", () => {
  startsConsoleApp();

  describe("the command for raw requests", () => {
    it("prints the result of each request to a running service", async () => {
      const report = await run("http:probe", { url: app.url });
      assert.deepEqual(report["misread"], knownMisreadings());
      assert.equal(report["url"], app.url);
      assert.match(String(report["a plain request"]), /^right +404 404, open/);
      assert.match(String(report["two lengths"]), /^right +no answer, closed/);
      assert.ok(Number(report["num_right"]) > 90);
    });

    it("refuses an invalid address, and an address where nothing listens", async () => {
      for (const url of ["", "here", "ftp://127.0.0.1"])
        await refused("http:probe", { url }, "probe:invalid_url");
      const url = `http://127.0.0.1:${await freePort()}`;
      await refused("http:probe", { url }, "probe:unreachable");
      const { port } = new URL(url);
      await refused("http:probe", {}, "probe:unreachable", {
        HOST: "127.0.0.1",
        PORT: Number(port),
      });
    });
  });
  describe("the command for imports", () => {
    it("cancels a game's queued imports, and reports when there are none", async () => {
      const job = { game: "dungeon", envelope: "/none.json", stamp: 1 };
      const id = await app.deps.enqueue(codexImport, job, noOrigin);
      await refused("import:cancel", { game: "other" }, "import:no_job");
      const jobs = [{ id, was: "waiting" }];
      assert.deepEqual(await run("import:cancel", { game: "dungeon" }), { game: "dungeon", jobs });
      await refused("import:cancel", { game: "dungeon" }, "import:no_job");
      const outcomes = await rowsOf(
        app.deps.em,
        sql`select target, outcome, num_changed, detail from audit_log
        where action = 'import:cancel' order by id`,
      );
      const refusal = { outcome: "refused", num_changed: null, detail: {} };
      assert.deepEqual(outcomes, [
        { target: "other", ...refusal },
        { target: "dungeon", outcome: "done", num_changed: 1, detail: { jobs } },
        { target: "dungeon", ...refusal },
      ]);
    });
  });
  describe("the command for the projection", () => {
    const rebuild = (options: Options) => run("projection:rebuild", options);
    const load = (version: string) =>
      importEnvelope(
        app.deps.em,
        envelope({ game: "gamedata", version, entities: smallGame(), locales: smallTexts() }),
        { now: importTime, project: projectionOf("gamedata") },
      );
    const score = async () => {
      await app.deps.archive.reload();
      const answer = await app.client.get(`/v2/item/id.item.boots`);
      return (answer.body as { gear_score: number }).gear_score;
    };
    const age = () =>
      rowsOf(
        app.deps.em,
        sql`update projection_items set gear_score = 1, inputs_hash = 'old'
        where id = 'id.item.boots'`,
      );

    it("previews a rebuild, shows its differences, applies it and undoes it", async () => {
      await refused("projection:rebuild", { preview: true }, "projection:no_game");
      await load("1.0");
      await age();
      const { build, ...counts } = await rebuild({ preview: true });
      const one = { num_added: 0, num_changed: 1, num_removed: 0 };
      assert.deepEqual(counts, { status: "preview", ...one });
      assert.equal(await score(), 1);
      const { rows } = await rebuild({ show: String(build) });
      const fields = [{ column: "gear_score", before: 1, after: 7 }];
      assert.deepEqual(rows, [{ id: "id.item.boots", op: "changed", fields }]);
      const rest = await rebuild({ show: String(build), after: "id.item.boots" });
      assert.deepEqual(rest["rows"], []);
      for (const wrong of ["999", "x", "-1", "9".repeat(30)])
        for (const option of ["show", "apply"])
          await refused("projection:rebuild", { [option]: wrong }, "projection:no_build");
      const applied = await rebuild({ apply: String(build) });
      assert.deepEqual(applied, { build, status: "applied", ...one });
      assert.equal(await score(), 7);
      await refused("projection:rebuild", { apply: String(build) }, "projection:no_build");
      assert.equal((await rebuild({ back: true }))["status"], "reverted");
      assert.equal(await score(), 1);
      await refused("projection:rebuild", { back: true }, "projection:nothing_to_take_back");
      assert.deepEqual(await audited("projection:apply"), ["gamedata: "]);
      assert.deepEqual(await audited("projection:back"), ["gamedata: "]);
    });

    it("does nothing when it is given more than one action", async () => {
      await age();
      await rebuild({});
      const contradictions: Options[] = [
        { preview: true, back: true },
        { preview: true, apply: "1" },
        { back: true, apply: "1" },
        { show: "1", back: true },
      ];
      for (const options of contradictions)
        await refused("projection:rebuild", options, "projection:one_at_a_time");
      assert.equal(await score(), 7);
    });

    it("refuses to apply a preview that was made before an import", async () => {
      const { build } = await rebuild({ preview: true });
      await load("1.1");
      await refused("projection:rebuild", { apply: String(build) }, "projection:outdated");
      assert.equal((await rebuild({}))["status"], "applied");
    });
  });
  describe("the console as a program", () => {
    it("exits quietly when its output pipe is closed, and so does the OpenAPI command", () => {
      for (const program of [[...builtProgram("console"), "config"], builtProgram("openapi")]) {
        const call = `"$0" "$@" | true`;
        const { stderr } = spawnSync("sh", ["-c", call, process.execPath, ...program]);
        assert.equal(stderr.toString(), "", program.join(" "));
      }
    });

    it("reports an unreachable database or an unwritable data folder in one line", async () => {
      const database = "postgres://a:b@127.0.0.1:1/c";
      const folder = `${import.meta.filename}/data`;
      const cases: [env: Record<string, string>, problem: RegExp][] = [
        [
          { DATABASE_URL: database },
          /^the database \(DATABASE_URL\) cannot be prepared: .*ECONNREFUSED.*\n$/,
        ],
        [{ DATA_DIR: folder }, /^DATA_DIR .* is not writable: ENOTDIR.*\n$/],
      ];
      for (const [env, problem] of cases) {
        const { REDIS_URL } = app.deps.config;
        const call = promisify(execFile)(
          process.execPath,
          [...builtProgram("console"), "operator:list"],
          { env: { ...process.env, DATA_DIR: dataDir, REDIS_URL, ...env } },
        );
        await assert.rejects(
          call,
          ({ code, stderr }: { code: number; stderr: string }) =>
            code === 1 && problem.test(stderr),
        );
      }
    });
  });
});
