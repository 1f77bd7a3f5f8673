import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { resources } from "../../../../db/projections/resources/index.ts";
import { startApp, type App } from "../../../support/app.ts";
import { checkAnyValue, importNewestSample } from "./sample-lists.ts";

type Row = Record<string, unknown>;

type Body = { count: number; next: string | null; rows: Row[] };

/** True if a row matches a parameter: an independent implementation of the document's filter table. */
type Rule = (row: Row, text: string) => boolean;

const anyOf =
  (column: string): Rule =>
  (row, text) =>
    text.split(",").includes(String(row[column]));

const atLeast =
  (column: string, absent?: number): Rule =>
  (row, text) =>
    Number(row[column] ?? absent ?? Number.NaN) >= Number(text);

const atMost =
  (column: string, absent?: number): Rule =>
  (row, text) =>
    Number(row[column] ?? absent ?? Number.NaN) <= Number(text);

const family: Rule = ({ archetype }, text) =>
  text.split(",").some((one) => archetype === one || String(archetype).endsWith(`.${one}`));

/** Handles `*` and `%` by splitting instead of a pattern: each part must follow the previous one. */
const contains =
  (column: string): Rule =>
  (row, text) => {
    if (row[column] === null) return false;
    let rest = String(row[column]).toLowerCase();
    for (const part of text.toLowerCase().split(/[*%]/)) {
      const at = rest.indexOf(part);
      if (at < 0) return false;
      rest = rest.slice(at + part.length);
    }
    return true;
  };

const named: Record<string, Rule> = { id_like: contains("id"), archetype: family };

const rules: Readonly<Record<string, Record<string, Rule>>> = {
  items: {
    ...Object.fromEntries(
      ["rarity", "item_type", "slot_type", "armor_type", "hand_type"].map((name) => [
        name,
        anyOf(name),
      ]),
    ),
    gear_score_min: atLeast("gear_score"),
    gear_score_max: atMost("gear_score"),
    is_droppable: anyOf("is_droppable"),
    is_tradable: anyOf("is_tradable"),
    ...named,
  },
  monsters: {
    class_type: anyOf("class_type"),
    grade_type: anyOf("grade_type"),
    hp_min: atLeast("hp"),
    hp_max: atMost("hp"),
    ...named,
  },
  classes: { is_playable: anyOf("is_playable") },
  skills: named,
  spells: named,
  perks: named,
  emotes: named,
  quests: {
    name: contains("title"),
    is_repeatable: anyOf("is_repeatable"),
    is_daily: anyOf("is_daily"),
    chapter_id: anyOf("chapter_id"),
    rank_min: atLeast("adventure_rank_min", 0),
    rank_max: atMost("adventure_rank_min", 0),
    id_like: contains("id"),
  },
  merchants: { religion_id: anyOf("religion_id") },
  dungeon_grades: { tier: anyOf("tier") },
  dungeon_cards: {
    mode: anyOf("mode"),
    party_size_min: atLeast("party_size"),
    party_size_max: atMost("party_size"),
  },
  spawners: {
    spawner_type: anyOf("spawner_type"),
    monster_id: anyOf("monster_id"),
    loot_drop_group_id: anyOf("loot_drop_group_id"),
  },
  achievements: { category: anyOf("category") },
  triumphs: { tier_min: atLeast("tier"), tier_max: atMost("tier") },
  faustian_bargains: { tier: anyOf("tier") },
  workshop_services: { service_type: anyOf("service_type") },
};

/** The column of a parameter, for useful test values. */
const columnOf = (parameter: string): string =>
  ({ id_like: "id", name: "title", rank: "adventure_rank_min" })[
    parameter.replace(/_(min|max)$/, "")
  ] ?? parameter.replace(/_(min|max)$/, "");

let app: App;
const all = new Map<string, Row[]>();

const read = async (path: string): Promise<Body> => {
  const answer = await app.client.get(`/v2/${path}`);
  assert.equal(answer.status, 200, `${path}: ${answer.text.slice(0, 300)}`);
  return answer.body as Body;
};

const walk = async (path: string, query: string): Promise<Row[]> => {
  const rows: Row[] = [];
  let cursor = "";
  for (;;) {
    const page = await read(`${path}?${query}${cursor}`);
    rows.push(...page.rows);
    assert.ok(rows.length <= page.count, `${path} repeats rows`);
    if (page.next === null) return rows;
    assert.equal(page.next, page.rows.at(-1)?.["id"]);
    cursor = `&cursor=${encodeURIComponent(page.next)}`;
  }
};

/** Values from the ends and the middle of a column, in the form of each filter. */
const valuesFor = (parameter: string, rows: readonly Row[]): string[] => {
  const column = columnOf(parameter);
  const found = [...new Set(rows.map((row) => row[column]))].filter((value) => value !== null);
  const some = [found[0], found[Math.floor(found.length / 2)], found.at(-1)].map(String);
  if (parameter === "id_like" || parameter === "name")
    return [...some, ...some.map((text) => text.slice(2, 9).toUpperCase()), "a*e", "e%_%a", "_"];
  if (/_(min|max)$/.test(parameter)) return [...some, "0", "-5.5", "1000000"];
  if (parameter === "archetype")
    return [...some, ...some.map((id) => id.split(".").slice(2).join(".")), "nothing"];
  return [...some, some.join(","), "null", `null,${some[0]}`];
};

const refused = async (query: string) => {
  const { json, status } = await app.client.get(`/v2/${query}`);
  const { flash } = json as { flash: { errors: { code: string; params: Row }[] } };
  assert.deepEqual([status, flash.errors[0]?.code], [400, "projection:invalid_filter"], query);
  return flash.errors[0]?.params["allowed"] as string[] | undefined;
};

describe("the lists of the projection", () => {
  before(async () => {
    app = await startApp({ hasJobs: false });
    await importNewestSample(app);
    for (const { path } of resources) all.set(path, await walk(path, "limit=200"));
  });
  after(() => app.stop());

  describe("page through rows", () => {
    it("page through all rows in both orders, without gap or repetition", async () => {
      for (const { path } of resources) {
        const ids = (all.get(path) ?? []).map(({ id }) => String(id));
        assert.ok(ids.length > 0, path);
        const byBytes = [...ids].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
        assert.deepEqual(ids, byBytes, path);
        const limit = Math.ceil(ids.length / 4);
        const forth = await walk(path, `limit=${limit}&sort=asc`);
        const back = await walk(path, `limit=${limit}&sort=desc&locale=de`);
        assert.deepEqual(
          forth.map(({ id }) => id),
          ids,
        );
        assert.deepEqual(
          back.map(({ id }) => id),
          [...ids].reverse(),
        );
      }
    });

    it("continue after a deleted row, and clamp their limit", async () => {
      const rows = all.get("items") ?? [];
      const between = `${String(rows[3]?.["id"])}.gone`;
      const { rows: next, count } = await read(`items?limit=1&cursor=${between}`);
      assert.deepEqual([next[0]?.["id"], count], [rows[4]?.["id"], rows.length]);
      assert.equal((await read("items?limit=0")).rows.length, 1);
      const wide = (await read("items?limit=5000")) as Body & { limit: number };
      assert.equal(wide.limit, 200);
      assert.deepEqual((await read("items?cursor=id.item.zzzz")).rows, []);
    });
  });
  describe("apply filters", () => {
    it("have exactly the documented filters", () => {
      for (const { path, filters } of resources)
        assert.deepEqual(
          filters.map(({ parameter }) => parameter).sort(),
          Object.keys(rules[path] ?? {}).sort(),
          path,
        );
    });

    it("apply every filter as the model does", async () => {
      let narrowed = 0;
      for (const [path, parameters] of Object.entries(rules))
        for (const [parameter, rule] of Object.entries(parameters)) {
          const rows = all.get(path) ?? [];
          for (const text of valuesFor(parameter, rows)) {
            const expected = rows.filter((row) => rule(row, text)).map(({ id }) => id);
            const place = `${path}?limit=200&${parameter}=${encodeURIComponent(text)}`;
            const page = await read(place);
            assert.equal(page.count, expected.length, place);
            const shown = page.rows.map(({ id }) => id);
            assert.deepEqual(shown, expected.slice(0, 200), place);
            if (expected.length > 0 && expected.length < rows.length) narrowed++;
          }
        }
      assert.ok(narrowed > 50, `only ${narrowed} questions told rows apart`);
    });

    it("combine several filters, and ignore filters of other resources", async () => {
      const rows = all.get("items") ?? [];
      const expected = rows.filter(
        (row) => row["is_droppable"] === true && Number(row["gear_score"] ?? -1) >= 20,
      );
      for (const flag of ["is_droppable=true", "is_droppable=1", "is_droppable"]) {
        const page = await read(`items?${flag}&gear_score_min=20&tier=x&hp_min=x`);
        assert.equal(page.count, expected.length, flag);
      }
      assert.equal((await read("items?gear_score_min=9&gear_score_max=3")).count, 0);
    });

    it("search quest titles in the language of the request", async () => {
      const german = await walk("quests", "limit=200&locale=de");
      const title = german.map((row) => String(row["title"])).find((one) => /[äöüß]/i.test(one));
      assert.ok(title);
      const shouted = encodeURIComponent(
        title.replaceAll("ß", "_").replaceAll("_", "*").toUpperCase(),
      );
      assert.ok((await read(`quests?locale=de&name=${shouted}`)).count > 0, title);
      assert.equal((await read(`quests?name=${encodeURIComponent(title)}`)).count, 0);
    });
  });
  describe("accept any value", () => {
    it("answer any value with rows or with a refusal that names the parameter", () =>
      checkAnyValue(
        app,
        resources.filter(({ path }) => path === "items"),
      ));

    it("accept patterns of 128 characters of any kind, and every number a row may have", async () => {
      for (const character of ["x", "ß", "🙂"]) {
        const name = encodeURIComponent(character.repeat(128));
        assert.equal((await read(`quests?name=${name}`)).count, 0, character);
        await refused(`quests?name=${name}x`);
      }
      for (const largest of ["9007199254740992", "100000000000000000000", "1e300"]) {
        assert.equal((await read(`items?gear_score_min=${largest}`)).count, 0);
        assert.ok((await read(`items?gear_score_min=-${largest}`)).count > 0);
      }
      for (const lost of ["9007199254740993", "1e400"])
        await refused(`items?gear_score_min=${lost}`);
    });

    it("name the allowed values in a refusal", async () => {
      assert.ok((await refused("items?rarity=shiny"))?.includes("legend"));
      assert.deepEqual(await refused("items?sort=up"), ["asc", "desc"]);
      assert.equal(await refused("items?cursor=id.monster.imp"), undefined);
      assert.equal(await refused("items?gear_score_min=high"), undefined);
      assert.deepEqual(await refused("items?is_tradable=maybe"), ["true", "false", "null"]);
      await refused(`items?archetype=${"a,".repeat(100)}a`);
      assert.equal(
        (await read("items?armor_type=cloth,leather,plate,null")).count,
        (all.get("items") ?? []).length,
      );
    });
  });
});
