import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { rowsOf } from "../../../../db/queries/rows.ts";
import { importEnvelope } from "../../../../importers/pipeline/import.ts";
import { startApp, type App } from "../../../support/app.ts";
import {
  archiveTraces,
  entity,
  envelope,
  importTime,
  load as loadInto,
  type EnvelopeInput,
} from "../../../support/archive.ts";
import { eventually } from "../../../support/eventually.ts";

const base = "/v1/codex";

const codeOf = (response: { json: unknown }) =>
  (response.json as { flash?: { errors: { code: string }[] } }).flash?.errors[0]?.code;

type Body = Record<string, unknown>;

const icon = Buffer.from("a picture of a torch");
const iconHash = "c8c631279f7d30a908d16dabc58c27599db3ad2fc0dff794340e7713fa7b5178";

const torch = (power: number, rest = {}) =>
  entity("id.item.torch", {
    upstream_key: "Id_Item_Torch",
    data: { power, description: "Burns for ever", rank: "12", "odd key": { "0": true } },
    tags: ["tool", "light"],
    links: [
      { rel: "drop", target: "id.monster.imp" },
      { rel: "part", target: "id.item.nowhere" },
      { rel: "part", target: "id.item.wick" },
    ],
    ...rest,
  });

const imp = entity("id.monster.imp", { data: { hp: 5 } });
const wick = entity("id.item.wick", { data: { power: "many", levels: [{ xp: 7 }] } });
const oil = entity("id.item.oil", { data: { power: 3, isOld: true, small: 1e-7, zero: "0" } });
let app: App;
const load = (input: EnvelopeInput) => loadInto(app, input);

const get = (path: string, headers: Record<string, string> = {}) =>
  app.client.get(base + path, { headers });

const read = async (path: string) => {
  const answer = await get(path);
  assert.equal(answer.status, 200, `${path}: ${answer.text.slice(0, 300)}`);
  return answer.body as Body;
};

const refused = async (path: string, status: number, code: string) => {
  const answer = await get(path);
  assert.deepEqual([answer.status, codeOf(answer)], [status, code], path);
};

const ids = async (path: string) =>
  ((await read(path))["entities"] as { id: string }[]).map(({ id }) => id);

describe("the archive", () => {
  before(async () => {
    app = await startApp({ hasJobs: false });
    const files = { "t.png": icon };
    const assets = [{ path: "t.png", media_type: "image/png" }];
    const withIcon = { icon: "t.png", assets: [{ path: "t.png", role: "icon" as const }] };
    await load({ version: "1.0", released: "2025-05-01T00:00:00Z", entities: [torch(1), imp] });
    await load({
      version: "1.1",
      entities: [torch(2, withIcon), wick, oil],
      files,
      assets,
      locales: { en: { a: "b" }, "zh-Hans": {} },
    });
    await load({
      branch: { slug: "beta", parent: "main", fork_version: "1.0" },
      version: "1.0.1-3",
      entities: [torch(9), imp, wick],
    });
  });
  after(() => app.stop());

  describe("lists games and patches", listsGamesPatches);
  describe("gives entities and their links", givesEntitiesTheirLinks);
  describe("lists entities of a type", listsEntitiesType);
  describe("answers again what it knows", answersAgainWhatKnows);
  describe("finds by upstream keys", findsByUpstreamKeys);
  describe("serves pictures", servesPictures);
});

function listsGamesPatches(): void {
  it("lists its games with their branches and present patch", async () => {
    const { games } = await read("/games");
    const [{ current_patch: patch, ...game }] = games as [{ current_patch: Body }];
    assert.deepEqual(game, {
      slug: "dungeon",
      display_name: "DUNGEON",
      branches: ["beta", "main"],
    });
    assert.equal(patch["version"], "1.1.0+build.0");
    assert.equal((await get("/games")).headers.get("cache-control"), "public, max-age=60");
  });

  it("counts what a branch holds", async () => {
    const { patch, ...manifest } = await read("/dungeon/manifest");
    assert.equal((patch as Body)["version_raw"], "1.1");
    assert.deepEqual(manifest, {
      game: "dungeon",
      branch: "main",
      types: { item: 3 },
      total: 3,
      locales: ["en", "zh-Hans"],
    });
    const beta = await read("/dungeon/manifest?branch=beta");
    assert.deepEqual(beta["types"], { item: 2, monster: 1 });
    await refused("/nothing/manifest", 404, "codex:game_not_found");
    await refused("/dungeon/manifest?branch=x", 404, "codex:branch_not_found");
  });

  it("answers a name that can be none by what was asked for", async () => {
    for (const [path, code] of [
      ["/%00/manifest", "codex:game_not_found"],
      ["/dungeon/patches/1.0%00", "codex:patch_not_found"],
      ["/dungeon/patches/1.0/diff/%00", "codex:patch_not_found"],
      ["/dungeon/item%00", "codex:entity_not_found"],
      ["/dungeon/id.item.%00", "codex:entity_not_found"],
      ["/dungeon/id.item.%00/history", "codex:entity_not_found"],
      ["/dungeon/diff/id.item.%00?from=1.0&to=1.1", "codex:entity_not_found"],
      ["/assets/%00", "codex:asset_not_found"],
    ] as const)
      await refused(path, 404, code);
  });

  it("lists patches newest first, those before the fork on a branch as well", async () => {
    const { patches } = await read("/dungeon/patches");
    const [second, first] = patches as [Body, Body];
    assert.deepEqual(first, {
      id: first["id"],
      version: "1.0.0+build.0",
      version_raw: "1.0",
      branch: "main",
      released_at: "2025-05-01T00:00:00+00:00",
      imported_at: "2026-01-01T00:00:00+00:00",
      parent_id: null,
      num_added: 2,
      num_changed: 0,
      num_removed: 0,
    });
    assert.deepEqual(
      [second["parent_id"], second["num_added"], second["num_changed"], second["num_removed"]],
      [first["id"], 2, 1, 1],
    );
    const beta = (await read("/dungeon/patches?branch=beta"))["patches"] as Body[];
    assert.deepEqual(
      beta.map((patch) => `${String(patch["branch"])} ${String(patch["version"])}`),
      ["beta 1.0.1+build.0.3", "main 1.0.0+build.0"],
    );
  });

  it("takes a version in every spelling", async () => {
    for (const version of ["1.1.0+build.0", "1.1.0%2Bbuild.0", "1.1"]) {
      const { patch } = await read(`/dungeon/patches/${version}`);
      assert.equal((patch as Body)["version_raw"], "1.1");
      const one = await read(`/dungeon/id.item.torch?at_patch=${version}`);
      assert.deepEqual((one["data"] as Body)["power"], 2);
    }
    await read("/dungeon/patches/1.0.1-3?branch=beta");
    await refused("/dungeon/patches/1.0.1-3", 404, "codex:patch_not_found");
    await refused("/dungeon/patches/1.1?branch=beta", 404, "codex:patch_not_found");
    await refused("/dungeon/id.item.torch?at_patch=7", 404, "codex:patch_not_found");
  });
}

function givesEntitiesTheirLinks(): void {
  it("gives an entity with everything it says", async () => {
    const one = await read("/dungeon/id.item.torch");
    const { patch, ...rest } = one;
    const hash = iconHash;
    assert.equal((patch as Body)["version"], "1.1.0+build.0");
    assert.deepEqual(rest, {
      id: "id.item.torch",
      type: "item",
      game: "dungeon",
      branch: "main",
      upstream_key: "Id_Item_Torch",
      name: "torch",
      tags: ["light", "tool"],
      icon: { hash, url: `${base}/assets/${hash}` },
      data: torch(2).data,
      links: torch(2).links,
      assets: [
        { role: "icon", hash, media_type: "image/png", bytes: 20, url: `${base}/assets/${hash}` },
      ],
    });
    for (const key of ["Id_Item_Torch", "Id_item_TORCH"])
      assert.equal((await read(`/dungeon/${key}`))["id"], "id.item.torch");
    await refused("/dungeon/Id_Item_None", 404, "codex:entity_not_found");
  });

  it("shows the state of a branch and of a patch, and nothing that was removed there", async () => {
    const power = async (query: string) =>
      ((await read(`/dungeon/id.item.torch${query}`))["data"] as Body)["power"];
    assert.equal(await power("?at_patch=1.0"), 1);
    assert.equal(await power("?branch=beta"), 9);
    assert.equal(await power("?branch=beta&at_patch=1.0"), 1);
    const inherited = await read("/dungeon/id.monster.imp?branch=beta");
    assert.equal((inherited["patch"] as Body)["version"], "1.0.0+build.0");
    assert.equal(inherited["branch"], "beta");
    await refused("/dungeon/id.monster.imp", 404, "codex:entity_not_found");
    await read("/dungeon/id.monster.imp?at_patch=1.0");
    await refused("/dungeon/id.item.wick?at_patch=1.0", 404, "codex:entity_not_found");
  });

  it("resolves links at the same patch: a row, several, or null", async () => {
    const { hydrated } = await read("/dungeon/id.item.torch?hydrate=drop,part,other,__proto__");
    const { drop, part, other } = hydrated as Record<string, Body | Body[] | null>;
    // Links come by relation and target.
    const [none, row] = part as [null, Body];
    assert.deepEqual([drop, none, other], [null, null, null]);
    assert.deepEqual([row["id"], row["hydrated"]], ["id.item.wick", undefined]);
    assert.deepEqual(Object.keys(hydrated as object), ["drop", "part", "other", "__proto__"]);
    const past = await read("/dungeon/id.item.torch?hydrate=drop&at_patch=1.0");
    assert.equal(((past["hydrated"] as Body)["drop"] as Body)["id"], "id.monster.imp");
    const many = Array.from({ length: 17 }, (_, i) => `r${i}`).join(",");
    await refused(`/dungeon/id.item.torch?hydrate=${many}`, 400, "request:invalid_query");
  });

  it("resolves links only as far as an answer may be long", async () => {
    const text = "x".repeat(900_000);
    const big = entity("id.item.big", { data: { text } });
    const link = (rel: string) => ({ rel, target: "id.item.big" });
    const links = [...Array.from({ length: 10 }, () => link("many")), link("two"), link("two")];
    const small = Array.from({ length: 100 }, (_, i) => entity(`id.item.s${i}`));
    const all = small.map(({ id = "" }) => ({ rel: "all", target: id }));
    const hub = entity("id.item.hub", { links: [...links, ...all] });
    await load({ game: "linked", entities: [big, hub, ...small] });
    const path = "/linked/id.item.hub?hydrate";
    await refused(`${path}=many`, 400, "request:invalid_query");
    const { two } = (await read(`${path}=two`))["hydrated"] as { two: Body[] };
    assert.deepEqual(
      two.map(({ data }) => data),
      [{ text }, { text }],
    );
    const { all: rows } = (await read(`${path}=all`))["hydrated"] as { all: Body[] };
    assert.deepEqual(new Set(rows.map(({ id }) => id)), new Set(small.map(({ id }) => id)));
  });

  it("tells the history of an entity, the removal included", async () => {
    const { history } = await read("/dungeon/id.monster.imp/history");
    const rows = history as Body[];
    assert.deepEqual(
      rows.map((row) => [row["patch_version_raw"], row["is_tombstone"], row["released_at"]]),
      [
        ["1.0", false, "2025-05-01T00:00:00+00:00"],
        ["1.1", true, null],
      ],
    );
    const text = '{"assets":[],"data":{"hp":5},"links":[],"name":"imp","tags":[]}';
    assert.deepEqual(
      rows.map((row) => row["content_hash"]),
      [text, "{}"].map((one) => hash("sha256", one)),
    );
    const beta = await read("/dungeon/Id_Item_Torch/history?branch=beta");
    assert.deepEqual(
      (beta["history"] as Body[]).map((row) => row["patch_version_raw"]),
      ["1.0", "1.0.1-3"],
    );
    await refused("/dungeon/id.item.oil/history?branch=beta", 404, "codex:entity_not_found");
    await refused("/dungeon/torch/history", 404, "codex:entity_not_found");
  });
}

function listsEntitiesType(): void {
  it("pages a type by a cursor with the exact count", async () => {
    const first = await read("/dungeon/item?limit=2");
    assert.deepEqual([first["count"], first["limit"]], [3, 2]);
    const rest = await read(`/dungeon/item?limit=2&cursor=${String(first["next"])}`);
    assert.deepEqual([rest["count"], rest["next"]], [3, null]);
    const all = [...(first["entities"] as Body[]), ...(rest["entities"] as Body[])];
    assert.deepEqual(new Set(all.map(({ id }) => id)).size, 3);
    assert.equal((await read("/dungeon/item?limit=999"))["limit"], 200);
    assert.equal((await read("/dungeon/item?limit=0"))["limit"], 1);
    assert.deepEqual((await read("/dungeon/none"))["entities"], []);
    await refused("/dungeon/item?cursor=-1", 400, "request:invalid_query");
    await refused("/dungeon/item?cursor=x", 400, "request:invalid_query");
  });

  it("filters by fields of the data, by name and by tags", async () => {
    const [t, w, o] = ["id.item.torch", "id.item.wick", "id.item.oil"];
    const sorted = async (query: string) => (await ids(`/dungeon/item?${query}`)).sort();
    const cases: [string, string[]][] = [
      ["filter[data.power]=2", [t]],
      ["filter[data.power]:ne=2", [o, w]],
      ["filter[data.power]:gte=2", [o, t]],
      ["filter%5Bdata.power%5D%3Agt=2", [o]],
      ["filter[data.rank]:lt=12.5", [t]],
      ["filter[data.isOld]=true", [o]],
      ["filter[data.levels.0.xp]=7", [w]],
      ["filter[data.levels]=x", []],
      ["filter[data.rank]:ne=12", [o, w]],
      ["filter[data.small]=1e-7", [o]],
      ["filter[data.small]=0.0000001", [o]],
      ["filter[data.small]:ne=1E-7", [t, w]],
      ["filter[data.small]:ne=1e-8", [o, t, w]],
      ["filter[data.small]=1e-999", []],
      ["filter[data.power]=%2B2.0", [t]],
      ["filter[data.zero]=0", [o]],
      ["filter[data.zero]=0.0", []],
      ["filter[data.levels]:ne=7", [o, t, w]],
      ["filter[tags]=tool", [t]],
      ["filter[tags]:ne=tool", [o, w]],
      ["filter[name]=wick", [w]],
      ["filter[type]=item&filter[data.power]:gt=1&filter[data.power]:lt=3", [t]],
    ];
    for (const [query, expected] of cases) assert.deepEqual(await sorted(query), expected, query);
    const refusals: [string, string][] = [
      ["filter[data.power]:gt=many", "codex:filter_not_numeric"],
      ["filter[data.power]:like=2", "codex:filter_op_invalid"],
      ["filter[tags]:gt=2", "codex:filter_op_invalid"],
      ["filter[data..x]=2", "codex:filter_path_invalid"],
      ["filter[icon]=2", "codex:filter_path_invalid"],
      ["filter[data.a'b]=2", "codex:filter_path_invalid"],
      [`filter[data.${"x".repeat(130)}]=2`, "codex:filter_path_invalid"],
      [Array.from({ length: 17 }, () => "filter[name]=x").join("&"), "request:invalid_query"],
    ];
    for (const [query, code] of refusals) await refused(`/dungeon/item?${query}`, 400, code);
  });

  it("finds a number by what it shows of it", async () => {
    const { data } = await read("/dungeon/id.item.oil");
    const { small } = data as { small: number };
    assert.deepEqual(await ids(`/dungeon/item?filter[data.small]=${small}`), ["id.item.oil"]);
  });

  it("gives a plain entity while many lists look into documents", async () => {
    const waiting = async (em: EntityManager) => {
      const rows = await rowsOf<{ num: number }>(
        em,
        sql`select count(*)::int as num from pg_locks where not granted
          and relation = 'codex_head'::regclass`,
      );
      return rows[0]?.num ?? 0;
    };
    const lists = await app.deps.em.fork().transactional(async (em) => {
      await rowsOf(em, sql`lock table codex_head in access exclusive mode`);
      const asked = Array.from({ length: 12 }, (_, i) =>
        get(`/dungeon/item?filter[data.x${i}]:gt=1`),
      );
      while ((await waiting(em)) < 2) await nextTurn();
      assert.equal((await get("/dungeon/id.item.wick?hydrate=none")).status, 200);
      return asked;
    });
    for (const { status } of await Promise.all(lists)) assert.equal(status, 200);
  });

  it("searches words of name and description by their beginnings", async () => {
    assert.deepEqual(await ids("/dungeon/item?q=BURN%20ev"), ["id.item.torch"]);
    assert.deepEqual(await ids("/dungeon/item?q=burn%20oil"), []);
    assert.deepEqual(await ids("/dungeon/item?q=%27%29%3A*!"), []);
    assert.equal((await ids("/dungeon/item?q=")).length, 3);
    await refused(`/dungeon/item?q=${"x".repeat(129)}`, 400, "request:invalid_query");
  });
}

function answersAgainWhatKnows(): void {
  it("answers a known ETag with 304, until an import changes the body", async () => {
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

  it("asks no store for what it has answered before", async () => {
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

  it("gives the bytes of an asset, whole or a range of them", async () => {
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
}

function findsByUpstreamKeys(): void {
  it("finds an entity by its exact upstream key before any other spelling, and by earlier ones", async () => {
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

  it("finds by an upstream key the entity that has it at the patch and on the branch", async () => {
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
    await load({ game, branch: from("late", "1.0"), version: "1.5", entities: [lamp("old"), oil] });
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

  it("shows what another process imported, to whoever asks a second later", async () => {
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
    const since = performance.now();
    for (;;) {
      const asked = performance.now();
      if ((await patch()) === "1.1") break;
      assert.ok(asked - since < 1_000, "an earlier patch was shown");
    }
  });

  it("keeps for each branch the upstream keys that it was imported with, and moves no tag again", async () => {
    const game = "spelled";
    const items = (spell: (name: string) => string, names = ["a", "b", "c"]) =>
      names.map((name) => entity(`id.item.${name}`, { upstream_key: spell(name) }));
    const main = { game, entities: items((name) => `Id_Item_${name}`) };
    const branch = { slug: "beta", parent: "main", fork_version: "1.0" };
    const beta = { game, branch, version: "1.1", entities: items((name) => `Id_ITEM_${name}`) };
    const third = { slug: "other", parent: "beta", fork_version: "1.1" };
    const other = { ...beta, branch: third, version: "1.2", entities: items((n) => `Id_Odd_${n}`) };
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
    // What an archive of earlier days has: on all branches the key that came last.
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
    // Of patches that others stand on nothing is written: main has none of these at 2.0, nor has `other`.
    assert.deepEqual(await runAll(), [0, 3, 0, 3]);
    assert.deepEqual(await keys(), expected);
    const settled = await archiveTraces(app.deps.orm);
    assert.deepEqual(await runAll(), [0, 0, 0, 0]);
    assert.deepEqual(await archiveTraces(app.deps.orm), settled);
  });
}

function servesPictures(): void {
  it("names an asset by its type, and has a browser save what it should not show", async () => {
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
      const shown = [status, headers.get("content-type"), headers.get("content-disposition"), text];
      const file = `${disposition}; filename=${digest}.${extension}`;
      assert.deepEqual(shown, [200, type, file, `a ${type}`]);
    }
  });

  it("gives a part of an asset only to whom the rest is of the same one", async () => {
    const path = `/assets/${iconHash}`;
    const part = (condition: string) => get(path, { range: "bytes=2-8", "if-range": condition });
    assert.equal((await part(`"${iconHash}"`)).status, 206);
    for (const other of ['"0"', `W/"${iconHash}"`, "Wed, 21 Oct 2015 07:28:00 GMT"])
      assert.deepEqual([(await part(other)).status, (await part(other)).bytes.length], [200, 20]);
  });
}
