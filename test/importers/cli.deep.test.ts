import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { basename } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { describe, it } from "node:test";
import { sql } from "kysely";
import { createOrm } from "../../db/orm.ts";
import { rowsOf } from "../../db/queries/rows.ts";
import { writeEnvelopeFile } from "../../importers/envelope/write-envelope.ts";
import { withDatabase } from "../../server/platform/postgres/database-url.ts";
import { entity, envelope } from "../support/archive.ts";
import { endOf, importScene, manyEntities } from "./import-command.ts";

describe("npm run import", () => {
  const { archive, folder, file, command, run } = importScene();

  const one = async <T>(query: ReturnType<typeof sql<T>>) =>
    (await rowsOf(archive().orm.em.fork(), query))[0];

  describe("refuses bad input", () => {
    it("reports a missing input in one line", async () => {
      const [missing, unreachable] = [file("missing"), "postgres://a:b@127.0.0.1:1/c"];
      const ended = [
        [run("dun", missing), `${missing}: there is no such folder`],
        [run("--queue", "--envelope", missing), `${missing}: there is no such file`],
        [
          run("--queue", "--envelope", process.execPath),
          `${process.execPath}: no file below IMPORT_DIR (${folder()})`,
        ],
        [run("--envelope", folder()), `  ${basename(folder())}: there is no such file`],
        [
          endOf(command().startAt(unreachable, "dun", file("dun"))),
          "the database (DATABASE_URL) cannot be prepared: connect ECONNREFUSED 127.0.0.1:1",
        ],
      ] as const;
      for (const [end, problem] of ended) {
        const { code, problems } = await end;
        const lines = problems.trimEnd().split("\n");
        assert.deepEqual([code, lines.at(-1), lines.length < 3], [1, problem, true], problems);
      }
    });

    it("continues when its output is not read", async () => {
      const child = command().start("dun", file("dun"), "--dry-run", "--allow-shrink");
      child.stdout?.destroy();
      const [problems, [code]] = await Promise.all([
        text(child.stderr ?? Readable.from([])),
        once(child, "close"),
      ]);
      assert.deepEqual([problems, code], ["", 0]);
    });

    it("refuses an import that would empty a branch, and an incomplete envelope", async () => {
      const game = { game: "half", entities: [entity("id.item.a"), entity("id.item.b")] };
      await writeEnvelopeFile(envelope(game), file("half.json"));
      assert.equal((await run("--envelope", file("half.json"))).code, 0);
      const { header } = envelope({ ...game, version: "2.0" });
      const whole = { ...header, entities: game.entities, locales: {} };
      const { entities, ...typo } = { ...whole, entites: whole.entities };
      const { locales, ...mute } = whole;
      assert.ok(entities.length > 0 && Object.keys(locales).length === 0);
      const cases = [
        [{ ...whole, entities: [] }, /entities: the patch would remove more than half .*2 removed/],
        [typo, /at entities: is missing\n.*at entites: is no member of an envelope/],
        [mute, /at locales: is missing/],
      ] as const;
      for (const [content, problem] of cases) {
        writeFileSync(file("less.json"), JSON.stringify(content));
        const { code, out, problems } = await run("--envelope", file("less.json"), "--json");
        assert.deepEqual([code, out], [1, ""]);
        assert.match(problems, problem);
      }
      writeFileSync(file("less.json"), JSON.stringify({ ...whole, entities: [] }));
      const allowed = await run("--envelope", file("less.json"), "--allow-shrink", "--json");
      assert.equal((JSON.parse(allowed.out) as { removed: number }).removed, 2);
    });

    it("refuses conflicting options, and an incomplete job or envelope copy", async () => {
      const good = ["--envelope", file("big.json.gz")];
      const pairs = [
        [[...good, "--queue", "--dry-run"], "--queue and --dry-run"],
        [[...good, "--queue", "--json"], "--queue and --json"],
        [
          [...good, "--write-envelope", file("copy.json"), "--dry-run"],
          "--write-envelope and --dry-run",
        ],
        [["big", file("dun"), ...good], "--envelope and a folder"],
      ] as const;
      for (const [args, pair] of pairs)
        assert.deepEqual(await run(...args), {
          out: "",
          problems: `${pair} do not go together\n`,
          code: 1,
        });
      const { game, ...rest } = envelope({ game: "whole" }).header;
      assert.equal(game.slug, "whole");
      writeFileSync(file("less.json"), JSON.stringify({ ...rest, entities: [], locales: {} }));
      for (const how of [["--queue"], ["--write-envelope", file("copy.json")]]) {
        const { code, out, problems } = await run("--envelope", file("less.json"), ...how);
        assert.deepEqual([code, out], [1, ""]);
        assert.match(problems, /^import:refused 1 problem\n {2}\S+: misses game\n$/);
      }
    });
  });
  describe("leaves no trace", () => {
    it("creates neither database nor tables in a dry run", async () => {
      const name = `dry_${process.pid}`;
      const databases = () =>
        one(sql<{ n: number }>`select count(*)::int as n from pg_database where datname = ${name}`);
      const url = withDatabase(archive().stores.databaseUrl, name);
      const dryRun = () => endOf(command().startAt(url, "dun", file("dun"), "--dry-run"));
      const refused = {
        out: "",
        problems: "a dry run needs a database of this version; import or start the service first\n",
        code: 1,
      };
      assert.deepEqual(await dryRun(), refused);
      assert.deepEqual(await databases(), { n: 0 });
      const em = archive().orm.em.fork();
      await sql`create database ${sql.id(name)}`.execute(em.getKysely());
      const orm = await createOrm({ DATABASE_URL: url, DATABASE_POOL: 1 });
      try {
        assert.deepEqual(await dryRun(), refused);
        const tables = sql<{ n: number }>`
        select count(*)::int as n from pg_tables where schemaname = 'public'`;
        assert.deepEqual(await rowsOf(orm.em.fork(), tables), [{ n: 0 }]);
      } finally {
        await orm.close(true);
        await sql`drop database ${sql.id(name)} with (force)`.execute(em.getKysely());
      }
    });

    it("leaves no trace when it is killed or cancelled, and succeeds on the next run", async () => {
      for (const signal of ["SIGKILL", "SIGINT"] as const) {
        const child = command().start("--envelope", file("big.json.gz"), "--json");
        const closed = once(child, "close");
        const isBusy = async () =>
          (
            await one(sql<{ n: number }>`
          select count(*)::int as n from pg_locks l join pg_database d on d.oid = l.database
          where l.locktype = 'advisory' and l.classid = 7346202 and d.datname = current_database()`)
          )?.n === 1;
        while (child.exitCode === null && !(await isBusy())) await wait(5);
        child.kill(signal);
        const [code] = (await closed) as [number | null];
        assert.equal(code, signal === "SIGINT" ? 130 : null);
        // Postgres notices the end of the client only after its statement: the next import must not be
        // mistaken for this one.
        while (await isBusy()) await wait(5);
        const left = await one(sql<{ n: number }>`
        select (select count(*) from codex_games where slug = 'big')::int
          + (select count(*) from codex_documents where body like '%xxxx%')::int as n`);
        assert.equal(left?.n, 0);
      }
      const whole = await run("--envelope", file("big.json.gz"), "--json");
      assert.equal((JSON.parse(whole.out) as { added: number }).added, manyEntities);
    });
  });
  describe("with --plan", () => {
    it("prints the plan as text and as JSON, writes nothing, and has no plan after the import", async () => {
      const entities = [entity("id.item.a"), entity("id.monster.b")];
      await writeEnvelopeFile(envelope({ game: "planned", entities }), file("planned.json"));
      const args = ["--envelope", file("planned.json")];
      const before = await archive().traces();
      const text = await run(...args, "--plan");
      assert.deepEqual([text.code, text.problems], [0, ""]);
      assert.match(
        text.out,
        /^planned main 1\.0\.0\+build\.0: new patch\n {2}type .*\n {2}item +1 /,
      );
      assert.match(text.out, /2 added, 0 changed, 0 removed, 0 unchanged \(nothing written\)\n$/);
      const json = await run(...args, "--plan", "--json");
      assert.deepEqual(await archive().traces(), before);
      const report = await run(...args, "--json");
      const [planned, imported] = [json, report].map(({ out }) => JSON.parse(out) as object);
      assert.deepEqual(planned, {
        ...imported,
        action: "create",
        fork: null,
        renamed: 0,
        types: {
          item: { added: 1, changed: 0, removed: 0 },
          monster: { added: 1, changed: 0, removed: 0 },
        },
        texts: [],
        assets: { added: 0, bytes: 0 },
        rebuild: { entities: 2, projection: false },
        changes: [
          { op: "added", id: "id.item.a" },
          { op: "added", id: "id.monster.b" },
        ],
        omitted: 0,
      });
      const again = await run(...args, "--plan");
      assert.match(again.out, /: nothing to write\n.*0 added, 0 changed, 0 removed, 2 unchanged/);
    });

    it("plans the patches of a folder one after another, and writes none", async () => {
      const folderArgs = ["folder", file("folder"), "--allow-shrink"];
      const entities = [entity("id.item.a"), entity("id.item.b")];
      for (const [version, count] of [
        ["1.0", 2],
        ["2.0", 1],
      ] as const)
        await writeEnvelopeFile(
          envelope({ game: "folder", version, entities: entities.slice(0, count) }),
          file(`folder/${version}.json`),
        );
      const before = await archive().traces();
      const { out, code } = await run(...folderArgs, "--plan", "--json");
      assert.equal(code, 0);
      assert.deepEqual(
        out
          .trim()
          .split("\n")
          .map((line) => {
            const { patch, added, removed } = JSON.parse(line) as Record<string, unknown>;
            return { patch, added, removed };
          }),
        [
          { patch: "1.0.0+build.0", added: 2, removed: 0 },
          { patch: "2.0.0+build.0", added: 0, removed: 1 },
        ],
      );
      assert.deepEqual(await archive().traces(), before);
    });

    it("lists the problems of a bad file instead of a plan, and fails", async () => {
      const entities = [
        entity("id.item.a"),
        entity("id.item.a"),
        entity("id.item.b", { icon: "no" }),
      ];
      await writeEnvelopeFile(envelope({ game: "bad", entities }), file("bad.json"));
      for (const more of [[], ["--json"]]) {
        const { code, out, problems } = await run(
          "--envelope",
          file("bad.json"),
          "--plan",
          ...more,
        );
        assert.deepEqual([code, out], [1, ""]);
        assert.deepEqual(problems.trimEnd().split("\n"), [
          "import:refused 2 problems",
          "  id.item.a: comes twice, again as Id_item_a",
          "  id.item.b at icon: no is no asset of this or an earlier import",
        ]);
      }
    });
  });
});
