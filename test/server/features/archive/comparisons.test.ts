import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sql } from "kysely";
import { rowsOf } from "../../../../db/queries/rows.ts";
import { startApp, type App } from "../../../support/app.ts";
import { type EnvelopeInput, entity, load as loadInto } from "../../../support/archive.ts";

const base = "/v1/codex/dungeon";

type Body = Record<string, unknown>;

type Groups = Record<"added" | "changed" | "removed", Body[]>;

const item = (name: string, data: Body, rest = {}) => entity(`id.item.${name}`, { data, ...rest });
let app: App;
const load = (input: EnvelopeInput) => loadInto(app, input);

const read = async (path: string) => {
  const answer = await app.client.get(base + path);
  assert.equal(answer.status, 200, `${path}: ${answer.text.slice(0, 300)}`);
  return answer.body as Body;
};

const refused = async (path: string, status: number, code: string) => {
  const { json, status: got } = await app.client.get(base + path);
  const { flash } = json as { flash?: { errors: { code: string }[] } };
  assert.deepEqual([got, flash?.errors[0]?.code], [status, code], path);
};

const monster = entity("id.monster.imp", { name: "Imp `x` <b>", data: { hp: 1 } });

const changesOfA = [
  { path: "data.n", before: 1, after: 2 },
  { path: 'data["odd key"]', before: 1, after: 2 },
  { path: "tags[0]", before: null, after: "x" },
];

describe("a comparison of patches", () => {
  before(async () => {
    app = await startApp({ hasJobs: false });
    await load({ version: "1", entities: [item("a", { n: 1, "odd key": 1 }), item("b", {})] });
    await load({
      version: "2",
      entities: [item("a", { n: 2, "odd key": 2 }, { tags: ["x"] }), item("c", { z: 1 }), monster],
    });
    await load({
      version: "3",
      entities: [item("a", { n: 1, "odd key": 1 }), item("c", { z: 1 })],
    });
    await load({
      branch: { slug: "beta", parent: "main", fork_version: "2" },
      version: "2.5",
      entities: [item("c", { z: 2 }), monster],
    });
  });
  after(() => app.stop());

  describe("returns differences", () => {
    it("returns a diff document with the earlier patch first, in either order of parameters", async () => {
      const { from, to, ...rest } = await read("/patches/1.0.0+build.0/diff/2.0.0+build.0");
      assert.deepEqual([(from as Body)["version_raw"], (to as Body)["version_raw"]], ["1", "2"]);
      assert.deepEqual(rest, {
        entries: [
          { id: "id.item.a", type: "item", op: "changed", changes: changesOfA },
          { id: "id.item.b", type: "item", op: "removed", before: {} },
          { id: "id.item.c", type: "item", op: "added", after: { z: 1 } },
          { id: "id.monster.imp", type: "monster", op: "added", after: { hp: 1 } },
        ],
        summary: { added: 2, removed: 1, changed: 1 },
      });
      assert.deepEqual((await read("/patches/2/diff/1"))["entries"], rest["entries"]);
      assert.deepEqual((await read("/diff?from=1&to=2"))["entries"], rest["entries"]);
      assert.deepEqual((await read("/patches/2/diff/2"))["entries"], []);
    });

    it("omits changes that cancel out, and follows a branch across its fork", async () => {
      const { entries } = await read("/diff?from=1&to=3");
      assert.deepEqual(
        (entries as Body[]).map(({ id, op }) => `${String(op)} ${String(id)}`),
        ["removed id.item.b", "added id.item.c"],
      );
      const beta = (await read("/diff?from=1&to=2.5&branch=beta"))["entries"] as Body[];
      assert.deepEqual(
        beta.map(({ id, op }) => `${String(op)} ${String(id)}`),
        ["removed id.item.a", "removed id.item.b", "added id.item.c", "added id.monster.imp"],
      );
      await refused("/diff?from=1&to=2.5", 404, "codex:patch_not_found");
      await refused("/diff?from=1", 400, "request:missing_parameter");
      await refused("/diff?to=1", 400, "request:missing_parameter");
    });

    it("compares one entity, and reports it unchanged when nothing differs or it is unknown", async () => {
      const one = await read("/diff/id.item.a?from=1&to=2");
      const entry = { id: "id.item.a", type: "item", op: "changed", changes: changesOfA };
      assert.deepEqual(one["entry"], entry);
      assert.deepEqual({ ...one, ...entry }, one);
      assert.deepEqual(one["summary"], { added: 0, removed: 0, changed: 1 });
      const same = { op: "unchanged", changes: [] };
      for (const path of [
        "id.item.a?from=1&to=3",
        "id.item.none?from=1&to=2",
        "Id_x?from=1&to=2",
      ]) {
        const { op, changes } = await read(`/diff/${path}`);
        assert.deepEqual({ op, changes }, same);
      }
      const { op, before } = await read("/diff/id.item.b?to=2&from=1");
      assert.deepEqual({ op, before }, { op: "removed", before: {} });
      await refused("/diff/id.item.a?from=1&to=9", 404, "codex:patch_not_found");
    });
  });
  describe("writes changelogs and notes", () => {
    it("returns the latest step, a named step or a range as a changelog", async () => {
      const latest = await read("/changelog");
      assert.deepEqual(latest["summary"], { added: 0, removed: 1, changed: 1 });
      const first = await read("/changelog?to=1");
      assert.deepEqual([first["from"], first["count"], first["next"]], [null, 2, null]);
      const { types, ...rest } = await read("/changelog?from=1&to=2&limit=3");
      assert.deepEqual(types, {
        item: {
          added: [{ id: "id.item.c", name: "c", after: { z: 1 } }],
          removed: [{ id: "id.item.b", name: "b", before: {} }],
          changed: [{ id: "id.item.a", name: "a", changes: changesOfA }],
        },
      });
      assert.deepEqual([rest["count"], rest["limit"], rest["cursor"], rest["next"]], [4, 3, 0, 3]);
      const page = await read("/changelog?from=1&to=2&limit=3&cursor=3");
      assert.deepEqual([Object.keys(page["types"] as Body), page["next"]], [["monster"], null]);
      const typed = await read("/changelog?from=1&to=2&type=monster");
      assert.deepEqual(
        [typed["count"], typed["summary"]],
        [1, { added: 1, removed: 0, changed: 0 }],
      );
      const swapped = await read("/changelog?from=2&to=1");
      assert.deepEqual((swapped["from"] as Body)["version_raw"], "1");
    });

    it("refuses invalid changelog parameters", async () => {
      for (const query of ["limit=0", "cursor=-1", "from=1", "format=xml"])
        await refused(`/changelog?${query}`, 400, "codex:changelog_params");
      await refused("/changelog?limit=x", 400, "request:invalid_query");
      await refused("/changelog?to=9", 404, "codex:patch_not_found");
      assert.equal((await read("/changelog?limit=5000"))["limit"], 1000);
    });

    it("writes patch notes with names escaped as text", async () => {
      const answer = await app.client.get(`${base}/changelog?from=1&to=2&format=md`);
      assert.equal(answer.headers.get("content-type"), "text/markdown; charset=utf-8");
      assert.equal(answer.headers.get("cache-control"), "public, max-age=300");
      assert.equal(
        answer.text,
        [
          "# DUNGEON 1.0.0+build.0 → 2.0.0+build.0",
          "",
          "Branch main: 2 added, 1 changed, 1 removed.",
          "",
          "## item",
          "",
          "### Added",
          "",
          "- **c** (`id.item.c`)",
          "",
          "### Changed",
          "",
          "- **a** (`id.item.a`)",
          "  - `data.n`: `1` → `2`",
          '  - `data["odd key"]`: `1` → `2`',
          '  - `tags[0]`: `null` → `"x"`',
          "",
          "### Removed",
          "",
          "- **b** (`id.item.b`)",
          "",
          "## monster",
          "",
          "### Added",
          "",
          "- **Imp \\`x\\` \\<b\\>** (`id.monster.imp`)",
          "",
        ].join("\n"),
      );
      const etag = answer.headers.get("etag") ?? "";
      const again = await app.client.get(`${base}/changelog?from=1&to=2&format=markdown`, {
        headers: { "if-none-match": etag },
      });
      assert.equal(again.status, 304);
    });

    it("uses the current name of the game as the title of its patch notes", async () => {
      const title = async () => {
        const { text } = await app.client.get("/v1/codex/named/changelog?to=1&format=md");
        return text.split("\n")[0];
      };
      await load({ game: "named", version: "1", entities: [monster] });
      await rowsOf(
        app.deps.em.fork(),
        sql`update codex_games set display_name = 'Earlier' where slug = 'named'`,
      );
      await app.deps.archive.reload();
      assert.equal(await title(), "# Earlier 1.0.0+build.0");
      await load({ game: "named", version: "2", entities: [] });
      assert.equal(await title(), "# NAMED 1.0.0+build.0");
    });

    it("shows a new import and a replaced patch at once", async () => {
      const diff = () => read("/diff?from=1&to=3");
      const before = await diff();
      assert.deepEqual(before["summary"], { added: 1, removed: 1, changed: 0 });
      await load({ version: "3", entities: [item("a", { n: 7, "odd key": 1 })] });
      assert.deepEqual((await diff())["summary"], { added: 0, removed: 1, changed: 1 });
      assert.equal(((await read("/id.item.a"))["data"] as Body)["n"], 7);
      assert.deepEqual((await read("/manifest"))["types"], { item: 1 });
      assert.equal((await read("/item"))["count"], 1);
    });
  });
  describe("of large entities", () => {
    const text = "x".repeat(1_000_000);
    const many = Array.from({ length: 34 }, (_, n) => item(`n${n}`, { text }));
    const ids = many.map(({ id }) => id).sort();
    /** Every page up to the end; `idsOf` says what is on one. */
    const readAll = async (path: string, idsOf: (page: Body) => unknown[]) => {
      const found: unknown[] = [];
      let pages = 0;
      for (let cursor: unknown = 0; cursor !== null; pages++) {
        const page = await app.client.get(`/v1/codex/vast/${path}&cursor=${cursor}`);
        assert.equal(page.status, 200);
        assert.ok(page.text.length < 10_000_000, `${page.text.length} characters`);
        const body = page.body as Body;
        assert.equal(body["count"], many.length);
        found.push(...idsOf(body));
        cursor = body["next"];
      }
      return { found, pages };
    };

    before(async () => {
      await load({ game: "vast", version: "1", entities: [] });
      await load({ game: "vast", version: "2", entities: many });
    });

    it("refuses a diff that is too large, and returns it page by page as a changelog", async () => {
      const { status, json } = await app.client.get("/v1/codex/vast/diff?from=1&to=2");
      const { flash } = json as { flash: { errors: { code: string }[] } };
      assert.deepEqual([status, flash.errors[0]?.code], [400, "codex:diff_too_large"]);
      const { found, pages } = await readAll("changelog?limit=1000", ({ types }) =>
        ((types as Record<string, Groups>)["item"]?.added ?? []).map(({ id }) => id),
      );
      assert.deepEqual(found, ids);
      assert.equal(pages, 4);
    });

    it("ends a page of a list early when it grows too large", async () => {
      const { found, pages } = await readAll("item?limit=200", ({ entities }) =>
        (entities as Body[]).map(({ id }) => id),
      );
      assert.deepEqual(found.sort(), ids);
      assert.equal(pages, 5);
    });
  });
});
