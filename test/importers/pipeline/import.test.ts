import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
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
import { entity, envelope, importTime } from "../../support/archive.ts";
import { untilOneWaits } from "../../support/locks.ts";
import {
  archive,
  counts,
  fresh,
  game,
  usePreviousGame,
  heads,
  numbers,
  rows,
  run,
  same,
  startsArchive,
  sword,
  torch,
} from "./import-runs.ts";

describe("an import", () => {
  startsArchive();

  describe("of a patch", () => {
    it("counts added, changed, removed and unchanged entities", async () => {
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

    it("of unchanged content writes no row, whatever the patch", async () => {
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

    it("replaces the newest patch and leaves earlier patches unchanged", async () => {
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
      const direct = await rows();
      usePreviousGame();
      assert.notEqual(game, expected);
      same(await rows(), direct);
    });

    it("refuses changed content for an older patch and names the differences", async () => {
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

    it("names every missing or unknown member, at any depth", async () => {
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
  });
  describe("that leaves no trace", () => {
    it("of a file that changes or vanishes after it was checked is refused", async () => {
      fresh();
      await run("1.0", [torch(1)]);
      const before = await archive.traces();
      const assets = [{ path: "a.png", media_type: "image/png" }];
      const later: (() => Uint8Array)[] = [
        () => Buffer.from("changed"),
        () => {
          throw new Error("is not there");
        },
      ];
      for (const readAgain of later) {
        let reads = 0;
        const files = {
          get "a.png"() {
            return reads++ === 0 ? Buffer.from("checked") : readAgain();
          },
        };
        await assert.rejects(
          run("1.1", [torch(2)], { files, assets }),
          new ImportRefused([
            { entity: "asset a.png", place: "", problem: "changed while it was imported" },
          ]),
        );
        same(await archive.traces(), before);
      }
    });

    it("reports in a dry run what would change, and writes nothing", async () => {
      fresh();
      await run("1.0", [torch(1), sword]);
      const before = await archive.traces();
      const source = envelope({
        game,
        version: "1.1",
        entities: [torch(2), entity("id.item.bow")],
      });
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
  });
  describe("on branches", () => {
    it("gives a branch the state of its fork plus the branch's own changes", async () => {
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
        [
          "beta bow {}",
          'beta torch {"power":1}',
          'main sword {"power":9}',
          'main torch {"power":2}',
        ],
      );
      await assert.rejects(
        run("1.0", [torch(7)], { branch: { slug: "beta" } }),
        /only the newest patch of a branch/,
      );
      await assert.rejects(run("2.0", [], { branch: { slug: "gamma" } }), /needs parent/);
    });

    it("resolves names and descriptions in English, and updates them when only the texts change", async () => {
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

    it("is searchable on every branch by that branch's English texts, even when the content is the same", async () => {
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
  });
  describe("with assets and concurrent imports", () => {
    it("stores assets once per content and keeps the media type declared first", async () => {
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

    it("of its own exported envelope file changes nothing", async () => {
      fresh();
      const png = { media_type: "image/png" };
      const hash = createHash("sha256").update("1").digest("hex");
      const source = envelope({
        game,
        files: {
          a: Buffer.from("1"),
          b: Buffer.from("1"),
          c: Buffer.from("1"),
          d: Buffer.from("2"),
        },
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
        const bring = (one: ImportEnvelope) =>
          importEnvelope(archive.orm.em.fork(), one, { now: 0 });
        same(await bring(source).then((report) => numbers({ ...report })), counts({ added: 4 }));
        same(await bring(file).then((report) => numbers({ ...report })), counts({ unchanged: 4 }));
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    });

    it("runs one at a time per game: two imports of the same patch create it once", async () => {
      fresh();
      const reports = await Promise.all([1, 2, 3].map(() => run("1.0", [torch(1), sword])));
      same(reports.map(({ added }) => added).sort(), [0, 0, 2]);
      same((await rows()).length, 2);
    });

    it("of one game does not wait for an import of another game, whatever their sizes", async () => {
      const entities = Array.from({ length: 1_001 }, (_, n) => entity(`id.item.n${n}`));
      const other = { game: fresh(), entities };
      const project = async () => {
        same((await archive.import(other)).added, entities.length);
      };
      same((await archive.import({ game: fresh(), entities }, { project })).added, entities.length);
    });

    it("stores the same pictures in any order while another game's pictures are being stored", async () => {
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
        // Each file was read once, and a batch of them is stored.
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
  });
});
