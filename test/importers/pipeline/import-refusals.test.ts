import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { ImportRefused, type EnvelopeHeader } from "../../../importers/envelope/contract.ts";
import { openEnvelopeFile } from "../../../importers/envelope/envelope-file.ts";
import { importEnvelope } from "../../../importers/pipeline/import.ts";
import { entity, envelope, importTime } from "../../support/archive.ts";
import {
  archive,
  counts,
  fresh,
  game,
  heads,
  numbers,
  run,
  same,
  startsArchive,
  torch,
} from "./import-runs.ts";

describe("an invalid import", () => {
  startsArchive();

  describe("with large removals or odd numbers and versions", () => {
    it("refuses a patch that removes more than half of its branch unless the caller allows it", async () => {
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
      // Repeated replacements of a patch cannot remove more in small steps than at once.
      await assert.rejects(
        run("1.1", few, {}, strict),
        /0 added, 0 changed, 3 removed, 2 unchanged/,
      );
      await run("1.1", few, {}, { allowShrink: true });
      const after = await archive.traces();
      await run("1.1", few, {}, strict);
      // The same data again removes nothing.
      same(await archive.traces(), after);
    });

    it("refuses a patch that removes more than half of the texts unless the caller allows it", async () => {
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
      // Repeated replacements of a patch cannot remove more in small steps than at once.
      await assert.rejects(run("1.1", items, { locales: { en: { a: "A" } } }, strict), /3 of 4/);
      await run("1.1", items, { locales: {} }, { allowShrink: true });
      await run("1.1", items, { locales: {} }, strict);
    });

    it("keeps large integers and refuses numbers that lose precision", async () => {
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

    it("refuses an earlier patch and a second spelling of a version", async () => {
      fresh();
      await run("1.1", [torch(1)]);
      await assert.rejects(run("1.0.9", [torch(1)]), /earlier than the newest/);
      await assert.rejects(run("1.1.0", [torch(1)]), /meets 1\.1 /);
      await assert.rejects(run("v9", [torch(1)]), /no canonical form/);
      await run("v9", [torch(1)], { canonical: "9.0.0+build.0" });
    });
  });
  describe("with invalid content", () => {
    it("lists every problem with its entity and path, and writes nothing", async () => {
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

    it("refuses an invalid header, lists every invalid field, and writes nothing", async () => {
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
      const patch = (rest: object) => ({
        patch: { version_raw: "2.0", released_at: null, ...rest },
      });
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

    it("accepts every date that denotes an instant", async () => {
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

    it("also reports entity and asset problems when the header is invalid or missing", async () => {
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
  });
});
