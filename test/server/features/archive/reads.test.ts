import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { describe, it } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { rowsOf } from "../../../../db/queries/rows.ts";
import { entity } from "../../../support/archive.ts";
import {
  app,
  base,
  type Body,
  get,
  iconHash,
  ids,
  load,
  read,
  refused,
  startsArchiveApp,
  torch,
} from "./archive-app.ts";

describe("the archive", () => {
  startsArchiveApp();

  describe("lists games and patches", () => {
    it("lists its games with their branches and current patch", async () => {
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

    it("counts the contents of a branch", async () => {
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

    it("answers an impossible name with the not-found code of its route", async () => {
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

    it("lists patches newest first; a branch includes those before its fork", async () => {
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

    it("accepts a version in every spelling", async () => {
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
  });
  describe("returns entities and their links", () => {
    it("returns an entity with all of its fields", async () => {
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

    it("shows the state of a branch and of a patch, without removed entities", async () => {
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

    it("resolves links at the same patch to one row, several or null", async () => {
      const { hydrated } = await read("/dungeon/id.item.torch?hydrate=drop,part,other,__proto__");
      const { drop, part, other } = hydrated as Record<string, Body | Body[] | null>;
      // Links are ordered by relation and target.
      const [none, row] = part as [null, Body];
      assert.deepEqual([drop, none, other], [null, null, null]);
      assert.deepEqual([row["id"], row["hydrated"]], ["id.item.wick", undefined]);
      assert.deepEqual(Object.keys(hydrated as object), ["drop", "part", "other", "__proto__"]);
      const past = await read("/dungeon/id.item.torch?hydrate=drop&at_patch=1.0");
      assert.equal(((past["hydrated"] as Body)["drop"] as Body)["id"], "id.monster.imp");
      const many = Array.from({ length: 17 }, (_, i) => `r${i}`).join(",");
      await refused(`/dungeon/id.item.torch?hydrate=${many}`, 400, "request:invalid_query");
    });

    it("resolves links up to the limit on response size", async () => {
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

    it("returns the history of an entity, including its removal", async () => {
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
  });
  describe("lists entities of a type", () => {
    it("pages through a type with a cursor and the exact count", async () => {
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

    it("finds a number by its printed value", async () => {
      const { data } = await read("/dungeon/id.item.oil");
      const { small } = data as { small: number };
      assert.deepEqual(await ids(`/dungeon/item?filter[data.small]=${small}`), ["id.item.oil"]);
    });

    it("returns a plain entity while many lists search in documents", async () => {
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

    it("searches words of name and description by prefix", async () => {
      assert.deepEqual(await ids("/dungeon/item?q=BURN%20ev"), ["id.item.torch"]);
      assert.deepEqual(await ids("/dungeon/item?q=burn%20oil"), []);
      assert.deepEqual(await ids("/dungeon/item?q=%27%29%3A*!"), []);
      assert.equal((await ids("/dungeon/item?q=")).length, 3);
      await refused(`/dungeon/item?q=${"x".repeat(129)}`, 400, "request:invalid_query");
    });
  });
});
