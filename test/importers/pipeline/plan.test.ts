import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sql } from "kysely";
import { openOrd } from "../../../db/queries/archive/codex-states.ts";
import { rowsOf } from "../../../db/queries/rows.ts";
import { ImportRefused } from "../../../importers/envelope/contract.ts";
import type { ImportedPatch } from "../../../importers/pipeline/apply.ts";
import { runImport, type ImportOptions } from "../../../importers/pipeline/import.ts";
import { formatPlan } from "../../../importers/pipeline/plan/format-plan.ts";
import { maxListedChanges, reportOf } from "../../../importers/pipeline/plan/import-plan.ts";
import {
  entity,
  envelope,
  importTime,
  startArchive,
  type Archive,
  type EnvelopeInput,
} from "../../support/archive.ts";

let archive: Archive;
let games = 0;

const torch = (power: number) => entity("id.item.torch", { data: { power } });
const sword = entity("id.item.sword");
const bow = entity("id.item.bow");
const imp = entity("id.monster.imp");
const png = { media_type: "image/png" };

/** One patch that adds, changes and removes entities, texts and files of two types. */
const firstPatch = (game: string): EnvelopeInput => ({
  game,
  version: "1.0",
  entities: [torch(1), sword, bow],
  locales: { en: { a: "A" }, fr: { a: "A" } },
});
const secondPatch = (game: string): EnvelopeInput => ({
  game,
  version: "1.1",
  entities: [torch(2), bow, imp, entity("id.item.map", { icon: "map.png" })],
  locales: { en: { a: "B" }, de: { a: "A" } },
  assets: [
    { path: "map.png", ...png },
    { path: "copy.png", ...png },
  ],
  files: { "map.png": Buffer.from(`map ${game}`), "copy.png": Buffer.from(`map ${game}`) },
});

const plan = (input: EnvelopeInput, options: Partial<ImportOptions> = {}) =>
  runImport(archive.orm.em.fork(), envelope(input), {
    now: importTime,
    isDryRun: true,
    allowShrink: true,
    ...options,
  });

const apply = (input: EnvelopeInput, options: Partial<ImportOptions> = {}) =>
  plan(input, { isDryRun: false, ...options });

const fresh = () => `plan-${++games}`;

/** Entities, texts and files that clients of the main branch can read. */
async function readable(game: string) {
  const em = archive.orm.em.fork();
  const of = sql`join codex_branches b on b.id = x.branch_id and b.slug = 'main'
    join codex_games g on g.id = b.game_id and g.slug = ${game}`;
  const heads = await rowsOf(
    em,
    sql<{ key: string; hash: string }>`select e.key, d.hash from codex_head x ${of}
      join codex_entities e on e.id = x.entity_id join codex_documents d on d.id = x.document_id`,
  );
  const texts = await rowsOf(
    em,
    sql<{ locale: string; hash: string }>`select x.locale, x.hash from codex_texts x ${of}
      where x.to_ord = ${openOrd}`,
  );
  const [files] = await rowsOf(
    em,
    sql<{ n: number; bytes: number }>`select count(*)::int as n,
      coalesce(sum(bytes), 0)::int as bytes from codex_assets`,
  );
  assert.ok(files);
  return {
    entities: new Map(heads.map(({ key, hash }) => [key, hash])),
    texts: new Map(texts.map(({ locale, hash }) => [locale, hash])),
    files,
  };
}

function difference(before: ReadonlyMap<string, string>, now: ReadonlyMap<string, string>) {
  const ops = [...new Set([...before.keys(), ...now.keys()])].sort().map((key) => {
    const [old, next] = [before.get(key), now.get(key)];
    const op = old === undefined ? "added" : next === undefined ? "removed" : "changed";
    return { key, op, isEqual: old === next };
  });
  return ops.filter(({ isEqual }) => !isEqual).map(({ key, op }) => `${op} ${key}`);
}

describe("the plan of an import", () => {
  before(async () => {
    archive = await startArchive();
  });
  after(() => archive.stop());

  describe("compared with the import", () => {
    it("lists what the import then does to entities, texts and files", async () => {
      const game = fresh();
      await apply(firstPatch(game));
      const planned = await plan(secondPatch(game));
      const old = await readable(game);
      const touched: string[] = [];
      const project = async (_em: unknown, patch: ImportedPatch) =>
        void touched.push(...patch.touched);
      const applied = await apply(secondPatch(game), { project });
      const now = await readable(game);
      assert.deepEqual(applied, planned, "a plan and its import are the same value");
      assert.deepEqual(
        planned.changes.map(({ op, id }) => `${op} ${id}`).sort(),
        difference(old.entities, now.entities).sort(),
      );
      assert.deepEqual(
        planned.texts.map(({ locale, op }) => `${op} ${locale}`).sort(),
        difference(old.texts, now.texts).sort(),
      );
      assert.deepEqual(planned.assets, {
        added: now.files.n - old.files.n,
        bytes: now.files.bytes - old.files.bytes,
      });
      assert.equal(planned.assets.added, 1, "equal files are stored once");
      assert.equal(planned.rebuild.entities, touched.length);
      assert.deepEqual(planned.types, {
        item: { added: 1, changed: 1, removed: 1 },
        monster: { added: 1, changed: 0, removed: 0 },
      });
    });

    it("has the same counts as the import report", async () => {
      const game = fresh();
      for (const input of [firstPatch(game), secondPatch(game), secondPatch(game)]) {
        const planned = await plan(input);
        assert.deepEqual(await archive.import(input, { allowShrink: true }), reportOf(planned));
      }
    });

    it("writes nothing", async () => {
      const game = fresh();
      await apply(firstPatch(game));
      const traces = await archive.traces();
      const branch = { slug: "beta", parent: "main", fork_version: "1.0" };
      const onBranch = { ...firstPatch(game), version: "1.0-1", branch, entities: [imp] };
      for (const input of [secondPatch(game), onBranch])
        assert.equal((await plan(input)).action, "create");
      assert.equal((await plan({ ...firstPatch(game), entities: [imp] })).action, "replace");
      assert.deepEqual(await archive.traces(), traces);
    });

    it("is empty after the import", async () => {
      const game = fresh();
      for (const input of [firstPatch(game), secondPatch(game)]) {
        await apply(input, { projectedGame: game });
        const { unchanged, ...again } = await plan(input, { projectedGame: game });
        assert.equal(unchanged, input.entities?.length);
        assert.deepEqual(again, {
          game,
          branch: "main",
          patch: `${input.version}.0+build.0`,
          action: "none",
          fork: null,
          added: 0,
          changed: 0,
          removed: 0,
          renamed: 0,
          types: {},
          texts: [],
          assets: { added: 0, bytes: 0 },
          rebuild: { entities: 0, projection: false },
          changes: [],
          omitted: 0,
        });
      }
    });

    it("names a new branch with its fork and counts all of its rows as built", async () => {
      const game = fresh();
      await apply(firstPatch(game));
      const branch = { slug: "beta", parent: "main", fork_version: "1.0" };
      const input = { ...firstPatch(game), version: "1.0-1", branch, entities: [sword, bow, imp] };
      const touched: string[] = [];
      const project = async (_em: unknown, patch: ImportedPatch) =>
        void touched.push(...patch.touched);
      const planned = await apply(input, { project });
      assert.deepEqual(planned.fork, { parent: "main", version: "1.0.0+build.0" });
      assert.equal(planned.rebuild.entities, touched.length);
      assert.equal(touched.length, 4);
    });

    it("counts the rows of a replaced patch", async () => {
      const game = fresh();
      await apply(firstPatch(game));
      await apply(secondPatch(game));
      const touched: string[] = [];
      const project = async (_em: unknown, patch: ImportedPatch) =>
        void touched.push(...patch.touched);
      const input = { ...secondPatch(game), entities: [torch(2), sword] };
      const planned = await apply(input, { project });
      assert.equal(planned.action, "replace");
      assert.equal(planned.rebuild.entities, touched.length);
    });
  });
  describe("on its own", () => {
    it("includes the update of typed resources for the projected game only", async () => {
      const game = fresh();
      const projection = async (projectedGame: string) =>
        (await plan(firstPatch(game), { projectedGame })).rebuild.projection;
      assert.deepEqual([await projection(game), await projection("other")], [true, false]);
    });

    it("lists a bounded number of entities and counts the rest", async () => {
      const entities = Array.from({ length: maxListedChanges + 5 }, (_, n) =>
        entity(`id.item.n${n}`),
      );
      const planned = await plan({ game: fresh(), entities });
      assert.deepEqual([planned.changes.length, planned.omitted], [maxListedChanges, 5]);
      assert.equal(planned.types["item"]?.added, entities.length);
      assert.match(formatPlan(planned), /\n {2}\+ id\.item\.n999\n {2}and 5 more\n/);
    });

    it("of an invalid envelope is refused with the same list of problems as the import", async () => {
      const bad = { ...firstPatch(fresh()), entities: [torch(1), torch(2), { ...bow, data: 5 }] };
      const problemsOf = (work: Promise<unknown>) =>
        work.then(
          () => assert.fail("a bad envelope was accepted"),
          (error: unknown) => {
            assert.ok(error instanceof ImportRefused);
            return error.problems.map((one) => `${one.entity} ${one.place}: ${one.problem}`);
          },
        );
      const input = bad as unknown as EnvelopeInput;
      const planned = await problemsOf(plan(input));
      assert.deepEqual(planned, [
        "id.item.torch : comes twice, again as Id_item_torch",
        "id.item.bow data: must be object",
      ]);
      assert.deepEqual(await problemsOf(apply(input)), planned);
    });

    it("prints as text for operators", async () => {
      const game = fresh();
      await apply(firstPatch(game));
      const branch = { slug: "beta", parent: "main", fork_version: "1.0" };
      const planned = await plan({ ...secondPatch(game), branch }, { projectedGame: game });
      assert.deepEqual(formatPlan(planned).split("\n"), [
        `${game} beta 1.1.0+build.0: new patch, new branch from main 1.0.0+build.0`,
        "  type        added   changed   removed",
        "  item            1         1         1",
        "  monster         1         0         0",
        "  texts: ~ en, + de, - fr",
        "  assets: 1 new (0.0 KiB)",
        "  rebuild: 5 entities of the branch, and the typed resources that depend on them",
        "  ~ id.item.torch",
        "  + id.monster.imp",
        "  + id.item.map",
        "  - id.item.sword",
        `${game} beta 1.1.0+build.0: 2 added, 1 changed, 1 removed, 1 unchanged`,
      ]);
    });
  });
});
