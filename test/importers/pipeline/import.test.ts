import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { sql } from "kysely";
import { rowsOf } from "../../../db/queries/rows.ts";
import {
  ImportRefused,
  type EnvelopeHeader,
  type ImportEnvelope,
  type SourceAsset,
  type SourceEntity,
} from "../../../importers/envelope/contract.ts";
import { openEnvelopeFile } from "../../../importers/envelope/envelope-file.ts";
import { importEnvelope, runImport } from "../../../importers/pipeline/import.ts";
import { reportOf } from "../../../importers/pipeline/plan/import-plan.ts";
import { writeEnvelopeFile } from "../../../importers/envelope/write-envelope.ts";
import { entity, envelope, importTime, startArchive, type Archive } from "../../support/archive.ts";
import { untilOneWaits } from "../../support/locks.ts";

const torch = (power: number) => entity("id.item.torch", { data: { power } });
const sword = entity("id.item.sword", { data: { power: 9 }, tags: ["weapon", "iron"] });
let archive: Archive;
let games = 0;
let game = "";

const run = (version: string, entities: readonly SourceEntity[], rest = {}, options = {}) =>
  archive.import({ game, version, entities, ...rest }, options);

const counts = ({ added = 0, changed = 0, removed = 0, unchanged = 0 }) => ({
  added,
  changed,
  removed,
  unchanged,
});

/** Content of every open and closed row of the game, without ids. */
const rows = () =>
  rowsOf(
    archive.orm.em.fork(),
    sql`select b.slug as branch, e.key, d.hash, v.from_ord, v.to_ord, v.is_inherited
        from codex_versions v join codex_entities e on e.id = v.entity_id
        join codex_games g on g.id = e.game_id join codex_branches b on b.id = v.branch_id
        left join codex_documents d on d.id = v.document_id
        where g.slug = ${game} order by 1, 2, 4`,
  );

const heads = () =>
  rowsOf(
    archive.orm.em.fork(),
    sql<{ branch: string; name: string; data: unknown; tags: string[]; search: string }>`
        select b.slug as branch, h.name, h.data, h.tags, h.search::text
        from codex_head h join codex_branches b on b.id = h.branch_id
        join codex_games g on g.id = b.game_id where g.slug = ${game} order by 1, 2`,
  );

const fresh = () => (game = `game-${++games}`);
const same = (actual: unknown, expected: unknown) => assert.deepEqual(actual, expected);
const numbers = ({ game: _g, branch: _b, patch: _p, ...rest }: Record<string, unknown>) => rest;

describe("an import", () => {
  before(async () => {
    archive = await startArchive();
  });
  after(() => archive.stop());

  describe("of a patch", ofPatch);
  describe("that removes or spells too much", removesOrSpellsToo);
  describe("that is refused", thatIsRefused);
  describe("that leaves no trace", leavesNoTrace);
  describe("on branches", onBranches);
  describe("with pictures, files and others at the same time", withPicturesFilesOthers);
});

function ofPatch(): void {
  it("counts what is added, changed, removed and the same", async () => {
    fresh();
    same(await run("1.0", [torch(1), sword]), {
      game,
      branch: "main",
      patch: "1.0.0+build.0",
      ...counts({ added: 2 }),
    });
    const shield = entity("id.item.shield");
    same(
      numbers({ ...(await run("1.1", [torch(2), shield])) }),
      counts({ added: 1, changed: 1, removed: 1 }),
    );
    same(numbers({ ...(await run("1.2", [torch(2), shield])) }), counts({ unchanged: 2 }));
    assert.deepEqual(
      (await heads()).map(({ name }) => name),
      ["shield", "torch"],
    );
  });

  it("of the same content again changes nothing and writes no row, whichever patch it is", async () => {
    fresh();
    await run("1.0", [torch(1), sword]);
    await run("1.1", [torch(2)]);
    await run("1.2", [torch(2)]);
    const before = await archive.traces();
    same(numbers({ ...(await run("1.0", [sword, torch(1)])) }), counts({ unchanged: 2 }));
    same(numbers({ ...(await run("1.1", [torch(2)])) }), counts({ unchanged: 1 }));
    same(numbers({ ...(await run("1.2", [torch(2)])) }), counts({ unchanged: 1 }));
    same(await archive.traces(), before);
  });

  it("replaces the newest patch and leaves what lies before it", async () => {
    fresh();
    await run("1.0", [torch(1), sword]);
    await run("1.1", [torch(2)]);
    same(
      numbers({ ...(await run("1.1", [torch(1), sword, entity("id.item.bow")])) }),
      counts({ added: 2, changed: 1 }),
    );
    const expected = fresh();
    await run("1.0", [torch(1), sword]);
    await run("1.1", [torch(1), sword, entity("id.item.bow")]);
    const straight = await rows();
    game = `game-${games - 1}`;
    assert.notEqual(game, expected);
    same(await rows(), straight);
  });

  it("refuses other content for an older patch and names what differs", async () => {
    fresh();
    await run("1.0", [torch(1)]);
    await run("1.1", [torch(2)]);
    const before = await rows();
    await assert.rejects(run("1.0", [torch(3), sword]), (error) => {
      assert.ok(error instanceof ImportRefused);
      same(
        error.problems.map(({ entity: id }) => id),
        ["id.item.torch", "id.item.sword"],
      );
      return true;
    });
    same(await rows(), before);
  });

  it("names a member that is missing or that nobody knows, wherever it stands", async () => {
    fresh();
    const odd = [
      { ...entity("id.item.a"), tagz: ["x"] },
      { ...entity("id.item.b"), links: [{ rel: "x", target: "id.item.a", weight: 1 }] },
      { ...entity("id.item.c"), assets: [{ path: "a", roll: "icon" }] },
      { ...entity("id.item.d"), assets: [5] },
      { ...entity("id.item.g"), assets: [{ path: "a", hash: "0".repeat(64) }, {}] },
      { id: "id.item.e", type: "item" },
      entity("id.item.f", { data: { anything: { at: ["all"] } } }),
    ] as SourceEntity[];
    const places = async (work: Promise<unknown>) => {
      const error: unknown = await work.then(
        () => null,
        (reason: unknown) => reason,
      );
      assert.ok(error instanceof ImportRefused);
      return error.problems.map(({ entity: id, place, problem }) => `${id} ${place}: ${problem}`);
    };
    const unknown = "is no member it may have";
    same(await places(run("1.0", odd)), [
      `id.item.a tagz: ${unknown}`,
      `id.item.b links[0].weight: ${unknown}`,
      `id.item.c assets[0].roll: ${unknown}`,
      "id.item.d assets[0]: has no form it may have",
      "id.item.g assets[0]: names one of path and hash",
      "id.item.g assets[1]: names one of path and hash",
      "id.item.e : misses upstream_key, data",
    ]);
    const file = { path: "a", media_type: "image/png", rol: "icon" } as SourceAsset;
    same(await places(run("1.0", [], { assets: [file] })), [`assets[0] rol: ${unknown}`]);
    const source = envelope({ game, version: "1.0" });
    const { format, patch, ...rest } = source.header;
    const header = {
      format,
      ...rest,
      brunch: {},
      game: { ...rest.game, name: "x" },
    } as unknown as EnvelopeHeader;
    same(patch.version_raw, "1.0");
    const work = importEnvelope(archive.orm.em.fork(), { ...source, header }, { now: 0 });
    same(await places(work), [
      "envelope : misses patch",
      `envelope brunch: ${unknown}`,
      `envelope game.name: ${unknown}`,
    ]);
  });
}

function removesOrSpellsToo(): void {
  it("refuses a patch that removes more than half of its branch, unless that is allowed", async () => {
    fresh();
    const items = ["a", "b", "c", "d", "e"].map((name) => entity(`id.item.${name}`));
    await run("1.0", items);
    const before = await archive.traces();
    const few = items.slice(0, 2);
    const refusal = /more than half.*\(0 added, 0 changed, 3 removed, 2 unchanged\)/;
    const strict = { allowShrink: false };
    await assert.rejects(run("1.1", few, {}, strict), refusal);
    await assert.rejects(run("1.0", few, {}, strict), refusal);
    await assert.rejects(run("1.1", few, {}, { ...strict, isDryRun: true }), refusal);
    const branch = { slug: "beta", parent: "main", fork_version: "1.0" };
    await assert.rejects(run("1.1", few, { branch }, strict), refusal);
    same(await archive.traces(), before);
    await run("1.1", items.slice(0, 3), {}, strict);
    // Bit by bit a patch that is replaced removes no more than at once.
    await assert.rejects(run("1.1", few, {}, strict), /0 added, 0 changed, 3 removed, 2 unchanged/);
    await run("1.1", few, {}, { allowShrink: true });
    const after = await archive.traces();
    await run("1.1", few, {}, strict);
    // The same again removes nothing.
    same(await archive.traces(), after);
  });

  it("refuses a patch that removes more than half of the texts, unless that is allowed", async () => {
    fresh();
    const items = [entity("id.item.a")];
    const strict = { allowShrink: false };
    const texts = { en: { a: "A", b: "B", c: "C" }, de: { a: "Ah" } };
    await run("1.0", items, { locales: texts });
    const before = await archive.traces();
    for (const locales of [{}, { en: {} }, { en: { a: "A" } }])
      for (const version of ["1.0", "1.1"])
        await assert.rejects(
          run(version, items, { locales }, strict),
          /more than half of the texts \(\d of 4\).*--allow-shrink/,
        );
    same(await archive.traces(), before);
    await run("1.1", items, { locales: { en: { a: "A", b: "B" } } }, strict);
    // Bit by bit a patch that is replaced removes no more than at once.
    await assert.rejects(run("1.1", items, { locales: { en: { a: "A" } } }, strict), /3 of 4/);
    await run("1.1", items, { locales: {} }, { allowShrink: true });
    await run("1.1", items, { locales: {} }, strict);
  });

  it("keeps large whole numbers, and refuses those that would come back as others", async () => {
    fresh();
    const folder = mkdtempSync(join(tmpdir(), "ember-numbers-"));
    const load = async (data: string) => {
      const { header } = envelope({ game });
      const one = `{"upstream_key":"Id_Item_A","type":"item","data":${data}}`;
      const text = `${JSON.stringify(header).slice(0, -1)},"entities":[${one}],"locales":{}}`;
      writeFileSync(join(folder, "e.json"), text);
      const source = await openEnvelopeFile(join(folder, "e.json"));
      return importEnvelope(archive.orm.em.fork(), source, { now: importTime });
    };
    try {
      for (const number of ["9007199254740993", "1e400", "18446744073709551616"])
        await assert.rejects(
          load(`{"a":[0,{"b":${number}}]}`),
          /Id_Item_A at data\.a\[1\]\.b: is a number that cannot be kept exactly/,
          number,
        );
      await assert.rejects(load(`{"a":${"[".repeat(5_000)}1e20${"]".repeat(5_000)}}`), /deeper/);
      const kept = { a: 2 ** 53, b: 1e20, c: Number.MAX_VALUE, d: -1e300, e: 0.1 };
      await load(JSON.stringify(kept));
      const [head] = await heads();
      same(head?.data, kept);
      same(numbers({ ...(await load(JSON.stringify(kept))) }), counts({ unchanged: 1 }));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it("refuses an earlier patch and two spellings of one version", async () => {
    fresh();
    await run("1.1", [torch(1)]);
    await assert.rejects(run("1.0.9", [torch(1)]), /earlier than the newest/);
    await assert.rejects(run("1.1.0", [torch(1)]), /meets 1\.1 /);
    await assert.rejects(run("v9", [torch(1)]), /no canonical form/);
    await run("v9", [torch(1)], { canonical: "9.0.0+build.0" });
  });
}

function thatIsRefused(): void {
  it("lists every problem with its entity and place, and writes nothing", async () => {
    fresh();
    const bad = [
      entity("id.item.a", { data: { deep: [{ n: Number.NaN }] } }),
      entity("id.item.b", { data: { text: "a\0b" } }),
      entity("id.item.c", { links: [{ rel: "x", target: "nowhere" }] }),
      entity("id.item.d", { icon: "icons/none.png" }),
      { ...entity("id.item.e"), id: "id.monster.e" },
      { ...entity("id.item.f"), type: "diff" },
      torch(1),
      torch(2),
    ];
    const before = await archive.traces();
    await assert.rejects(run("1.0", bad), (error) => {
      assert.ok(error instanceof ImportRefused);
      same(
        error.problems.map(({ entity: id, place }) => `${id} ${place}`.trim()),
        [
          "id.item.a data.deep[0].n",
          "id.item.b data.text",
          "id.item.c links[0].target",
          "id.item.d icon",
          "id.monster.e id",
          "id.item.f type",
          "id.item.torch",
        ],
      );
      return true;
    });
    same(await archive.traces(), before);
  });

  it("refuses a header with every place that is wrong, and writes nothing", async () => {
    fresh();
    await run("1.0", [torch(1)]);
    const before = await archive.traces();
    const problemsOf = async (header: object, options = { now: 0 }) => {
      const source = envelope({ game, version: "2.0" });
      const given = { ...source, header: { ...source.header, ...header } as EnvelopeHeader };
      const error: unknown = await importEnvelope(archive.orm.em.fork(), given, options).then(
        () => null,
        (reason: unknown) => reason,
      );
      assert.ok(error instanceof ImportRefused, JSON.stringify(header));
      return error.problems.map(({ entity: part, place }) => `${part} ${place}`);
    };
    const names = (slug: unknown) => ({ game: { slug, display_name: "x" } });
    for (const slug of ["games", "assets", "A", "", "-a", "a b", 7, null])
      same(await problemsOf(names(slug)), ["envelope game.slug"]);
    for (const slug of ["Beta", "", "../x", null])
      same(await problemsOf({ branch: { slug } }), ["envelope branch.slug"]);
    for (const text of ["a\0b", "a\ud800b"])
      same(await problemsOf({ game: { slug: game, display_name: text } }), [
        "envelope game.display_name",
      ]);
    const patch = (rest: object) => ({ patch: { version_raw: "2.0", released_at: null, ...rest } });
    for (const raw of ["a/b", "1 0", "", 2, "\u00e9"])
      same(await problemsOf(patch({ version_raw: raw })), ["envelope patch.version_raw"]);
    const dates = ["yesterday", "2026-01-01", 0, "2016-12-31T23:59:60Z", "2026-02-29T00:00:00Z"];
    for (const date of [...dates, "2026-01-01T00:00:00Z[Europe/Paris]"])
      same(await problemsOf(patch({ released_at: date })), ["envelope patch.released_at"]);
    same(await problemsOf({ format: 2 }), ["envelope format"]);
    same(await problemsOf({ format: 2, ...names("A"), ...patch({ released_at: 0 }) }), [
      "envelope format",
      "envelope game.slug",
      "envelope patch.released_at",
    ]);
    same(await problemsOf(patch({ canonical: "2.0" })), ["patch canonical"]);
    same(await problemsOf(patch({ version_raw: "2.0-rc" })), ["patch version_raw"]);
    const beta = (rest: object) => ({ branch: { slug: "beta", ...rest } });
    same(await problemsOf(beta({})), ["branch "]);
    same(await problemsOf(beta({ parent: "no", fork_version: "1.0" })), ["branch parent"]);
    same(await problemsOf(beta({ parent: "main", fork_version: "9" })), ["branch fork_version"]);
    same(await problemsOf({ branch: { slug: "main", parent: "beta" } }), ["branch parent"]);
    same(await problemsOf(beta({ parent: "m\0", fork_version: "\ud800" })), [
      "envelope branch.parent",
      "envelope branch.fork_version",
    ]);
    same(await archive.traces(), before);
  });

  it("takes every date that has a moment", async () => {
    for (const released of [
      "0000-01-01T00:00:00Z",
      "9999-12-31T23:59:59-14:00",
      "2016-12-31T23:59:59.9999999+01:00",
    ]) {
      fresh();
      await run("1.0", [torch(1)], { released });
      const before = await archive.traces();
      await run("1.0", [torch(1)], { released });
      same(await archive.traces(), before);
    }
  });

  it("tells of the entities and assets as well when the header is wrong or has no place", async () => {
    fresh();
    await run("1.1", [torch(1)]);
    const before = await archive.traces();
    const rest = { assets: [{ path: "a.png" }] as never, locales: { "e n": {} } };
    const bad = [entity("id.item.a", { icon: "none.png" }), torch(1), torch(2)];
    const others = ["assets[0]", "locales", "id.item.a", "id.item.torch"];
    const refused = async (work: Promise<unknown>, first: string) =>
      assert.rejects(work, (error) => {
        assert.ok(error instanceof ImportRefused);
        const named = error.problems.map((one) => one.entity);
        same([named[0], ...named.slice(1).sort()], [first, ...others.sort()]);
        return true;
      });
    await refused(run("1.0", bad, rest), "patch");
    await refused(run("a b", bad, rest), "envelope");
    same(await archive.traces(), before);
  });
}

function leavesNoTrace(): void {
  it("says in a dry run what would change and writes nothing", async () => {
    fresh();
    await run("1.0", [torch(1), sword]);
    const before = await archive.traces();
    const source = envelope({ game, version: "1.1", entities: [torch(2), entity("id.item.bow")] });
    const options = { now: importTime, isDryRun: true };
    const plan = await runImport(archive.orm.em.fork(), source, options);
    same(numbers({ ...reportOf(plan) }), counts({ added: 1, changed: 1, removed: 1 }));
    const seen = plan.changes.map(({ op, id }) => `${op} ${id}`);
    same(seen, ["changed id.item.torch", "added id.item.bow", "removed id.item.sword"]);
    same(await archive.traces(), before);
  });

  it("leaves no trace when it is cancelled or its projection fails", async () => {
    fresh();
    const control = new AbortController();
    const many = Array.from({ length: 600 }, (_, i) => entity(`id.item.n${i}`));
    const onProgress = (phase: string, done: number) => {
      if (phase === "entities" && done > 0) control.abort();
    };
    await assert.rejects(run("1.0", many, {}, { signal: control.signal, onProgress }), /aborted/);
    const project = () => Promise.reject(new Error("projection failed"));
    await assert.rejects(run("1.0", many, {}, { project }), /projection failed/);
    same(await rows(), []);
    same(numbers({ ...(await run("1.0", many)) }), counts({ added: 600 }));
  });
}

function onBranches(): void {
  it("gives a branch the state of its fork, apart from what it changes itself", async () => {
    fresh();
    await run("1.0", [torch(1), sword]);
    await run("1.1", [torch(2), sword]);
    const branch = { slug: "beta", parent: "main", fork_version: "1.0" };
    same(
      numbers({ ...(await run("1.1-1", [torch(1), entity("id.item.bow")], { branch })) }),
      counts({ added: 1, removed: 1, unchanged: 1 }),
    );
    same(
      (await heads()).map((row) => `${row.branch} ${row.name} ${JSON.stringify(row.data)}`),
      ["beta bow {}", 'beta torch {"power":1}', 'main sword {"power":9}', 'main torch {"power":2}'],
    );
    await assert.rejects(
      run("1.0", [torch(7)], { branch: { slug: "beta" } }),
      /only the newest patch of a branch/,
    );
    await assert.rejects(run("2.0", [], { branch: { slug: "gamma" } }), /needs parent/);
  });

  it("finds names and descriptions in English, and follows when only the texts change", async () => {
    fresh();
    const item = entity("id.item.frost", { name_key: "n", data: { description: "d" } });
    const texts = (n: string, d: string) => ({ locales: { en: { n, d }, de: { n: "Frost" } } });
    await run("1.0", [item], texts("Frost Amulet", "Cold to the touch"));
    const [first] = await heads();
    assert.equal(first?.name, "Frost Amulet");
    assert.equal(first?.search, "'amulet' 'cold' 'frost' 'the' 'to' 'touch'");
    same(
      numbers({ ...(await run("1.1", [item], texts("Frost Amulet", "Warm"))) }),
      counts({ unchanged: 1 }),
    );
    assert.equal((await heads())[0]?.search, "'amulet' 'frost' 'warm'");
  });

  it("is found on every branch by the English of that branch, though the content is the same", async () => {
    fresh();
    const item = entity("id.item.frost", { data: { description: "d" } });
    const load = (version: string, d: string, branch: EnvelopeHeader["branch"], more = {}) =>
      run(version, [item], { locales: { en: { d } }, branch, ...more });
    const from = (slug: string, version: string) => ({
      slug,
      parent: "main",
      fork_version: version,
    });
    const found = async () =>
      (await heads()).map(({ branch, search }) => `${branch}: ${search.replaceAll("'", "")}`);
    await load("1.0", "Sharp", { slug: "main" });
    await load("2.0", "Blunt", { slug: "main" });
    await load("1.0", "Sharp", from("at-fork", "1.0"));
    await load("1.1", "Sharp", from("beyond", "1.0"));
    await load("2.1", "Round", from("own", "2.0"));
    await load("3.0", "Blunt", { slug: "main" });
    await load("3.0", "Blunt", from("present", "3.0"));
    const expected = [
      "at-fork: frost sharp",
      "beyond: frost sharp",
      "main: blunt frost",
      "own: frost round",
      "present: blunt frost",
    ];
    same(await found(), expected);
    await load("1.1", "Sharp", { slug: "beyond" }, { entities: [item, sword] });
    await load("1.1", "Sharp", { slug: "beyond" });
    same(await found(), expected);
  });
}

function withPicturesFilesOthers(): void {
  it("stores assets once by their content and keeps the type declared first", async () => {
    fresh();
    const files = { "a.png": Buffer.from("same"), "b/c.png": Buffer.from("same") };
    const assets = [
      { path: "a.png", media_type: "image/png" },
      { path: "b/c.png", media_type: "image/webp" },
    ];
    const list = [
      entity("id.item.a", { icon: "a.png" }),
      entity("id.item.b", { icon: "b/c.png", assets: [{ path: "a.png", role: "portrait" }] }),
    ];
    await run("1.0", list, { files, assets });
    const stored = await rowsOf(
      archive.orm.em.fork(),
      sql`select media_type, bytes from codex_assets`,
    );
    same(stored, [{ media_type: "image/png", bytes: 4 }]);
  });

  it("from the envelope file that was written of it changes nothing", async () => {
    fresh();
    const png = { media_type: "image/png" };
    const hash = createHash("sha256").update("1").digest("hex");
    const source = envelope({
      game,
      files: { a: Buffer.from("1"), b: Buffer.from("1"), c: Buffer.from("1"), d: Buffer.from("2") },
      assets: [
        { path: "a", ...png, role: "icon" },
        { path: "b", ...png, role: "portrait" },
        { path: "c", media_type: "audio/ogg" },
        { path: "d", media_type: "audio/ogg" },
      ],
      entities: [
        entity("id.item.a", { icon: "a", assets: ["a", "c"] }),
        entity("id.item.b", { assets: ["a", "b", { path: "b", role: "other" }] }),
        entity("id.item.c", { assets: ["c", "d"] }),
        entity("id.item.d", { assets: [{ hash }, { path: hash }, { hash, role: "icon" }] }),
      ],
    });
    const folder = mkdtempSync(join(tmpdir(), "ember-written-"));
    try {
      await writeEnvelopeFile(source, join(folder, "e.json"));
      const file = await openEnvelopeFile(join(folder, "e.json"));
      assert.equal(file.assets.length, 2);
      const bring = (one: ImportEnvelope) => importEnvelope(archive.orm.em.fork(), one, { now: 0 });
      same(await bring(source).then((report) => numbers({ ...report })), counts({ added: 4 }));
      same(await bring(file).then((report) => numbers({ ...report })), counts({ unchanged: 4 }));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it("runs one at a time for a game: two of the same patch make it once", async () => {
    fresh();
    const reports = await Promise.all([1, 2, 3].map(() => run("1.0", [torch(1), sword])));
    same(reports.map(({ added }) => added).sort(), [0, 0, 2]);
    same((await rows()).length, 2);
  });

  it("of one game does not wait for that of another, however much both bring", async () => {
    const entities = Array.from({ length: 1_001 }, (_, n) => entity(`id.item.n${n}`));
    const other = { game: fresh(), entities };
    const project = async () => {
      same((await archive.import(other)).added, entities.length);
    };
    same((await archive.import({ game: fresh(), entities }, { project })).added, entities.length);
  });

  it("takes the same pictures in whatever order while those of another game are stored", async () => {
    const names = Array.from({ length: 65 }, (_, n) => `shared ${n}`);
    const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
    names.sort((a, b) => (sha256(a) < sha256(b) ? -1 : 1));
    const picturesOf = (order: readonly string[]) =>
      envelope({
        game: fresh(),
        files: Object.fromEntries(order.map((name) => [name, Buffer.from(name)])),
        assets: order.map((path) => ({ path, media_type: "image/png" })),
        entities: [torch(1)],
      });
    const bring = (source: ImportEnvelope) =>
      importEnvelope(archive.orm.em.fork(), source, { now: importTime });
    const first = picturesOf(names);
    const second = picturesOf(names.toReversed());
    let reads = 0;
    const later: Promise<unknown>[] = [];
    const readAsset = async (path: string) => {
      // Each file was looked at once, and a batch of them is stored.
      if (++reads === 2 * names.length) {
        later.push(bring(second));
        await untilOneWaits(archive.orm.em.fork());
      }
      return first.readAsset(path);
    };
    await bring({ ...first, readAsset });
    await Promise.all(later);
    same(later.length, 1);
  });
}
