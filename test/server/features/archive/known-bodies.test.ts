import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { sql } from "kysely";
import { rowsOf } from "../../../../db/queries/rows.ts";
import { importEnvelope } from "../../../../importers/pipeline/import.ts";
import { archiveTraces, entity, envelope, importTime } from "../../../support/archive.ts";
import { eventually } from "../../../support/eventually.ts";
import {
  app,
  type Body,
  get,
  icon,
  iconHash,
  load,
  oil,
  read,
  refused,
  startsArchiveApp,
} from "./archive-app.ts";

const pauseMs = 10;

describe("repeated requests to the archive", () => {
  startsArchiveApp();

  describe("use cached bodies", () => {
    it("get 304 for a known ETag until an import changes the body", async () => {
      const game = "tidings";
      const path = `/${game}/id.item.oil`;
      await load({ game, entities: [oil] });
      const first = await get(path);
      const etag = first.headers.get("etag") ?? "";
      assert.match(etag, /^"[\w-]+"$/);
      const known = { "if-none-match": etag };
      assert.equal((await get(path, known)).status, 304);
      await load({ game, version: "1.1", entities: [{ ...oil, data: { power: 4 } }] });
      const second = await get(path, known);
      assert.deepEqual([second.status, (second.body as Body)["data"]], [200, { power: 4 }]);
      assert.notEqual(second.headers.get("etag"), etag);
      assert.equal((await get(path, { "if-none-match": "*" })).status, 304);
    });

    it("hit the cache on every kind of route", async () => {
      const uses = async () => {
        const { values } = await app.deps.metrics.archiveCache.get();
        const of = (outcome: string) =>
          values.reduce((sum, one) => sum + (one.labels.outcome === outcome ? one.value : 0), 0);
        return [of("hit"), of("miss")] as const;
      };
      for (const path of [
        "/games",
        "/dungeon/item?limit=1&q=torch",
        "/dungeon/id.item.torch?hydrate=part",
        "/dungeon/id.item.torch/history",
        "/dungeon/diff?from=1.0&to=1.1",
        "/dungeon/changelog?format=md",
        `/assets/${iconHash}`,
      ]) {
        await get(path);
        const [hits, misses] = await uses();
        assert.equal((await get(path)).status, 200);
        assert.deepEqual(await uses(), [hits + 1, misses], path);
      }
    });

    it("get the bytes of an asset, whole or as a range", async () => {
      const path = `/assets/${iconHash}`;
      const whole = await get(`${path}?size=64x64&format=webp`);
      assert.deepEqual(Buffer.from(whole.bytes), icon);
      const header = (name: string) => whole.headers.get(name);
      assert.equal(header("content-type"), "image/png");
      assert.equal(header("etag"), `"${iconHash}"`);
      assert.equal(header("cache-control"), "public, max-age=31536000, immutable");
      assert.equal(header("content-disposition"), `inline; filename=${iconHash}.png`);
      const part = await get(path, { range: "bytes=2-8" });
      assert.deepEqual([part.status, part.text], [206, "picture"]);
      assert.equal(part.headers.get("content-range"), "bytes 2-8/20");
      assert.equal((await get(path, { range: "bytes=-5" })).text, "torch");
      assert.equal((await get(path, { range: "bytes=20-" })).status, 416);
      const known = { "if-none-match": `"${iconHash}"` };
      assert.equal((await get(path, known)).status, 304);
      await refused("/assets/zz", 404, "codex:asset_not_found");
      await refused(`/assets/${"0".repeat(64)}`, 404, "codex:asset_not_found");
    });
  });
  describe("find entities by upstream keys", () => {
    it("find an entity by its exact upstream key before any other spelling, and by earlier keys", async () => {
      const game = "keys";
      const lamp = (name: string, upstreamKey: string) =>
        entity(`id.item.${name}`, { upstream_key: upstreamKey });
      await load({ game, entities: [lamp("a", "Id_Item_Lamp"), lamp("b", "Id_item_lamp")] });
      const found = async (key: string) => (await read(`/${game}/${key}`))["id"];
      assert.equal(await found("Id_Item_Lamp"), "id.item.a");
      assert.equal(await found("Id_item_lamp"), "id.item.b");
      assert.equal(await found("Id_ITEM_LAMP"), "id.item.a");
      const renamed = [lamp("a", "Id_Item_Lantern"), lamp("b", "Lampion")];
      await load({ game, version: "1.1", entities: renamed });
      for (const key of ["Id_Item_Lantern", "Id_Item_Lamp"])
        assert.equal(await found(key), "id.item.a");
      assert.equal(await found("Id_item_lamp"), "id.item.b");
      const { upstream_key: key } = await read(`/${game}/Id_item_lamp?at_patch=1.0`);
      assert.equal(key, "Lampion");
      assert.deepEqual((await read(`/${game}/Lampion`))["entities"], []);
    });

    it("find the entity that has an upstream key at the given patch and branch", async () => {
      const game = "shared-keys";
      const lamp = (name: string, more = {}) =>
        entity(`id.item.${name}`, { upstream_key: "Id_Lamp", ...more });
      const from = (slug: string, version: string) => ({
        slug,
        parent: "main",
        fork_version: version,
      });
      await load({ game, entities: [lamp("old")] });
      await load({ game, branch: from("side", "1.0"), version: "1.1", entities: [lamp("aside")] });
      await load({ game, version: "2.0", entities: [lamp("new")] });
      await load({
        game,
        branch: from("late", "1.0"),
        version: "1.5",
        entities: [lamp("old"), oil],
      });
      const found = async (rest: string) => (await read(`/${game}/Id_Lamp${rest}`))["id"];
      assert.equal(await found(""), "id.item.new");
      assert.equal(await found("?at_patch=1.0"), "id.item.old");
      assert.equal(await found("?branch=side"), "id.item.aside");
      assert.equal(await found("?branch=side&at_patch=1.0"), "id.item.old");
      assert.equal(await found("?branch=late"), "id.item.old");
      assert.equal(await found("/history?branch=side"), "id.item.aside");
      assert.equal((await read(`/${game}/diff/Id_Lamp?from=1.0&to=2.0`))["id"], "id.item.new");
      await load({ game, version: "3.0", entities: [lamp("other", { upstream_key: "Id_LAMP" })] });
      assert.equal(await found(""), "id.item.other");
      assert.equal(await found("?at_patch=2.0"), "id.item.new");
      await load({ game, version: "4.0", entities: [oil] });
      await refused(`/${game}/Id_Lamp`, 404, "codex:entity_not_found");
      assert.equal(await found("/history"), "id.item.new");
    });

    it("show an import of another process within a second", async () => {
      const game = "elsewhere";
      const importOne = (version: string) =>
        importEnvelope(app.deps.em, envelope({ game, version }), { now: importTime });
      const patch = async () =>
        ((await read(`/${game}/manifest`))["patch"] as { version_raw: string }).version_raw;
      await importOne("1.0");
      await eventually(
        "the game is there",
        async () => (await get(`/${game}/manifest`)).status === 200,
      );
      await importOne("1.1");
      // The second consists of pauses, because a busy machine takes longer for the requests between them.
      for (let pausedMs = 0; (await patch()) !== "1.1"; pausedMs += pauseMs) {
        assert.ok(pausedMs < 1_000, "an earlier patch was shown");
        await pause(pauseMs);
      }
    });

    it("use each branch's own upstream keys, and get the same ETags after a repeated import", async () => {
      const game = "spelled";
      const items = (spell: (name: string) => string, names = ["a", "b", "c"]) =>
        names.map((name) => entity(`id.item.${name}`, { upstream_key: spell(name) }));
      const main = { game, entities: items((name) => `Id_Item_${name}`) };
      const branch = { slug: "beta", parent: "main", fork_version: "1.0" };
      const beta = { game, branch, version: "1.1", entities: items((name) => `Id_ITEM_${name}`) };
      const third = { slug: "other", parent: "beta", fork_version: "1.1" };
      const other = {
        ...beta,
        branch: third,
        version: "1.2",
        entities: items((n) => `Id_Odd_${n}`),
      };
      const imports = [main, { ...main, version: "2.0" }, beta, other];
      const runAll = async () => {
        const counts = [];
        for (const one of imports) {
          const report = await importEnvelope(app.deps.em, envelope(one), { now: importTime });
          counts.push(report.renamed ?? 0);
        }
        await app.deps.archive.reload();
        return counts;
      };
      const paths = [
        "",
        "?branch=beta",
        "?branch=other",
        "?at_patch=1.0",
        "?branch=beta&at_patch=1.0",
      ];
      const answers = async () => {
        const all = [];
        for (const query of paths)
          for (const path of [`/${game}/id.item.a${query}`, `/${game}/item${query}`]) {
            if (path.includes("item?at") || path.includes("/item?branch=beta&at")) continue;
            const { headers, body } = await app.client.get(`/v1/codex${path}`);
            all.push([path, headers.get("etag"), body]);
          }
        return all;
      };
      assert.deepEqual(await runAll(), [0, 0, 0, 0]);
      const keyOf = async (query: string) =>
        (await read(`/${game}/id.item.a${query}`))["upstream_key"];
      const keys = async () => Promise.all(paths.map(keyOf));
      const expected = ["Id_Item_a", "Id_ITEM_a", "Id_Odd_a", "Id_Item_a", "Id_Item_a"];
      assert.deepEqual(await keys(), expected);
      const first = await answers();
      const traces = await archiveTraces(app.deps.orm);
      assert.deepEqual(await runAll(), [0, 0, 0, 0]);
      assert.deepEqual(await archiveTraces(app.deps.orm), traces);
      assert.deepEqual(await answers(), first);
      for (const key of ["Id_Item_a", "Id_ITEM_a", "Id_Odd_a"])
        for (const query of paths)
          assert.equal((await read(`/${game}/${key}${query}`))["id"], "id.item.a");
      // An archive of an earlier version: on all branches the key of the last import.
      const em = app.deps.em;
      await rowsOf(
        em,
        sql`update codex_branch_keys n set upstream_key = replace(e.upstream_key, 'Id_Item', 'Id_ITEM')
        from codex_entities e join codex_games g on g.id = e.game_id
        where e.id = n.entity_id and g.slug = ${game}`,
      );
      await rowsOf(
        em,
        sql`delete from codex_sources s using codex_branches b, codex_games g
        where b.id = s.branch_id and g.id = b.game_id and g.slug = ${game}`,
      );
      // Nothing is written for a patch that branches depend on: main has none of these at 2.0, nor has
      // `other`.
      assert.deepEqual(await runAll(), [0, 3, 0, 3]);
      assert.deepEqual(await keys(), expected);
      const settled = await archiveTraces(app.deps.orm);
      assert.deepEqual(await runAll(), [0, 0, 0, 0]);
      assert.deepEqual(await archiveTraces(app.deps.orm), settled);
    });
  });
  describe("return pictures", () => {
    it("get a file name from the asset's type, and a download header for unsafe types", async () => {
      const types: [mediaType: string, disposition: string, extension: string][] = [
        ["image/webp", "inline", "webp"],
        ["image/jpeg", "inline", "jpg"],
        ["image/avif", "inline", "avif"],
        ["audio/ogg", "inline", "ogg"],
        ["audio/mpeg", "inline", "mp3"],
        ["audio/wav", "inline", "wav"],
        ["image/svg+xml", "attachment", "svg"],
        ["text/html", "attachment", "html"],
        ["application/x-upstream", "attachment", "bin"],
      ];
      const files = Object.fromEntries(types.map(([type]) => [type, Buffer.from(`a ${type}`)]));
      await load({
        game: "files",
        assets: types.map(([type]) => ({ path: type, media_type: type })),
        files,
      });
      for (const [type, disposition, extension] of types) {
        const digest = hash("sha256", `a ${type}`);
        const { status, headers, text } = await get(`/assets/${digest}`);
        const shown = [
          status,
          headers.get("content-type"),
          headers.get("content-disposition"),
          text,
        ];
        const file = `${disposition}; filename=${digest}.${extension}`;
        assert.deepEqual(shown, [200, type, file, `a ${type}`]);
      }
    });

    it("get a range of an asset only when If-Range matches the same asset", async () => {
      const path = `/assets/${iconHash}`;
      const part = (condition: string) => get(path, { range: "bytes=2-8", "if-range": condition });
      assert.equal((await part(`"${iconHash}"`)).status, 206);
      for (const other of ['"0"', `W/"${iconHash}"`, "Wed, 21 Oct 2015 07:28:00 GMT"])
        assert.deepEqual([(await part(other)).status, (await part(other)).bytes.length], [200, 20]);
    });
  });
});
