import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sql } from "kysely";
import { projectionOf } from "../../../db/projections/refresh.ts";
import { maxFound, searchEntities, type TypeRef } from "../../../db/queries/archive/codex-list.ts";
import { rowsOf } from "../../../db/queries/rows.ts";
import { startApp, type App } from "../../support/app.ts";
import { load } from "../../support/archive.ts";
import { made, smallGame, smallTexts } from "../../support/projected-game.ts";

const texts = smallTexts();
const greeting = "Quest_Smith1";
let app: App;
const get = (path: string) => app.client.get(path);

const rows = async (path: string) => {
  const { status, body, text } = await get(path);
  assert.equal(status, 200, `${path}: ${text.slice(0, 300)}`);
  return body as { rows?: { id: string; title: string }[]; entities?: { id: string }[] };
};

const quests = async (locale: string, name: string) =>
  ((await rows(`/v2/quests?locale=${locale}&name=${encodeURIComponent(name)}`)).rows ?? []).map(
    ({ id }) => id,
  );

const archived = async (q: string) =>
  ((await rows(`/v1/codex/gamedata/item?q=${encodeURIComponent(q)}`)).entities ?? []).map(
    ({ id }) => id,
  );

const refusal = async (path: string) => {
  const { status, json } = await get(path);
  const { flash } = json as { flash?: { errors: { code: string; params: unknown }[] } };
  return [status, flash?.errors[0]?.code, flash?.errors[0]?.params];
};

const titleIn = async (locale: string) => {
  const { body } = await get(`/v2/quest/id.quest.smith_01?locale=${locale}`);
  return (body as { title: string }).title;
};

describe("searches and languages of game data", () => {
  before(async () => {
    app = await startApp({ hasJobs: false });
    const entities = [
      ...smallGame(),
      { ...made("item", "sword_of_light", {}), name: "Épée de Lumière" },
      { ...made("item", "amulet", {}), name: "永恒冰霜护符" },
      { ...made("item", "duck", {}), name: "Farfetch'd" },
      { ...made("item", "robot", {}), name: "R.O.B." },
      made("quest", "errand", { title_text: "Errand" }),
      { ...made("item", "dagger", {}), name: "שָׁלוֹם العَرَبِيَّة ⚔\ufe0fblade" },
    ];
    const locales = {
      ...texts,
      en: { ...texts["en"], [greeting]: "Straße zur Épée", Errand: "The King’s St. Errand" },
      "zh-Hans": { [greeting]: "永恒冰霜护符" },
      "zh-Hant": { [greeting]: "永恆冰霜護符" },
      he: { [greeting]: "שָׁלוֹם לָעוֹלָם" },
      ar: { [greeting]: "اللغة العَرَبِيَّة" },
      el: { [greeting]: "ΟΔΟΣ" },
      is: { [greeting]: "Þórsmörk ⚔\ufe0fblade" },
      "pt-BR": { [greeting]: "Missão" },
      "sr-Latn": { [greeting]: "Zadatak" },
      "sr-RS": { [greeting]: "Задатак" },
    };
    await load(
      app,
      { game: "gamedata", version: "1.0", entities, locales },
      { project: projectionOf("gamedata") },
    );
  });
  after(() => app.stop());

  describe("find titles", () => {
    it("find a title of a typed list with and without its accents", async () => {
      for (const name of ["epee", "ÉPÉE", "strasse", "straße", "zur*epee"])
        assert.deepEqual(await quests("en", name), ["id.quest.smith_01"], name);
      assert.deepEqual(await quests("pt", "missao"), ["id.quest.smith_01"]);
      assert.deepEqual(await quests("en", "DAILY_toil"), ["id.quest.smith_daily_02"]);
      assert.deepEqual(await quests("en", "dailyxtoil"), []);
    });

    it("find names and titles with and without their apostrophes and dots", async () => {
      for (const q of ["farfetchd", "farfetch'd", "FARFETCH’D", "farfetch"])
        assert.deepEqual(await archived(q), ["id.item.duck"], q);
      for (const q of ["rob", "r.o.b.", "R.O.B", "r o b"])
        assert.deepEqual(await archived(q), ["id.item.robot"], q);
      for (const name of ["kings", "king's", "King’s st errand", "st.*errand"])
        assert.deepEqual(await quests("en", name), ["id.quest.errand"], name);
      const nothing = [400, "projection:invalid_filter", { parameter: "name" }];
      assert.deepEqual(await refusal("/v2/quests?name=."), nothing);
      assert.deepEqual(await archived("'.'"), []);
    });

    it("find text inside a Chinese title, in the client's script", async () => {
      for (const name of ["永", "冰霜", "霜护符", "永恒冰霜护符"])
        assert.deepEqual(await quests("zh-CN", name), ["id.quest.smith_01"], name);
      assert.deepEqual(await quests("zh-TW", "霜護"), ["id.quest.smith_01"]);
      assert.deepEqual(await quests("zh-TW", "霜护"), []);
    });

    it("find titles with and without optional marks", async () => {
      for (const [locale, name] of [
        ["he", "שלום"],
        ["he", "לָעוֹלָם"],
        ["ar", "العربية"],
        ["ar", "اللُّغَة"],
        ["el", "οδός"],
        ["is", "thorsmork"],
        ["is", "⚔blade"],
      ] as const)
        assert.deepEqual(await quests(locale, name), ["id.quest.smith_01"], name);
      for (const q of ["שלום", "שָׁלוֹם", "العربية", "blade שלום"])
        assert.deepEqual(await archived(q), ["id.item.dagger"], q);
    });

    it("find the same titles in the archive", async () => {
      for (const q of ["epee", "Épée lumiere", "LUMIE"])
        assert.deepEqual(await archived(q), ["id.item.sword_of_light"], q);
      for (const q of ["冰霜", "符", "恒冰霜护符"])
        assert.deepEqual(await archived(q), ["id.item.amulet"], q);
      assert.deepEqual(await archived("霜冰"), []);
    });
  });
  describe("stay within bounds", () => {
    it("use the nearest relative of the requested language", async () => {
      for (const [locale, title] of [
        ["zh-CN", "永恒冰霜护符"],
        ["zh", "永恒冰霜护符"],
        ["zh_SG", "永恒冰霜护符"],
        ["zh-TW", "永恆冰霜護符"],
        ["zh-HK", "永恆冰霜護符"],
        ["pt", "Missão"],
        ["sr-Latn", "Zadatak"],
        ["sr-Latn-RS", "Zadatak"],
        ["sr", "Задатак"],
        ["de-AT", "Ratten"],
        ["fr-CA", "Straße zur Épée"],
      ] as const)
        assert.equal(await titleIn(locale), title, locale);
    });

    it("are refused when Postgres exceeds the time limit of a search, and work after that", async () => {
      const typed = "/v2/quests?name=never";
      const inArchive = "/v1/codex/gamedata/item?q=never";
      for (const [table, path, refused] of [
        ["projection_quests", typed, [400, "projection:invalid_filter", { parameter: "name" }]],
        ["codex_head", inArchive, [400, "request:invalid_query", { parameter: "q" }]],
      ] as const) {
        await app.deps.orm.em.fork().transactional(async (tx) => {
          await rowsOf(tx, sql`lock table ${sql.table(table)} in access exclusive mode`);
          assert.deepEqual(await refusal(path), refused);
        });
        assert.equal((await get(path)).status, 200);
      }
    });

    it("are refused in the archive when they find more than the limit", async () => {
      const em = app.deps.orm.em.fork();
      await rowsOf(
        em,
        sql`insert into codex_head (branch_id, entity_id, type, document_id, patch_id, name, tags, data, search)
        select h.branch_id, 1000000 + n, 'item', h.document_id, h.patch_id, 'x', '{}', '{}',
          array_to_tsvector(array[case when n = 1 then 'zebra' else 'zebras' end])
        from generate_series(1, ${maxFound}::int + 1) n, (select * from codex_head limit 1) h`,
      );
      const [ref] = await rowsOf(
        em,
        sql<TypeRef>`select b.game_id as "gameId", b.id as "branchId", 'item' as type
        from codex_branches b where b.id = (select branch_id from codex_head limit 1)`,
      );
      assert.ok(ref);
      assert.equal((await searchEntities(em, ref, ["zebras"]))?.ids.length, maxFound);
      assert.equal(await searchEntities(em, ref, ["zebra"]), null);
      assert.equal((await get("/v1/codex/gamedata/item?q=zebra")).status, 400);
    });

    it("return a page in the first of its languages that the client accepts", async () => {
      for (const [header, language] of [
        ["de-AT", "de"],
        ["fr, de;q=0.8, en;q=0.5", "de"],
        ["zh-TW, en;q=0.5, de;q=0.4", "en"],
        ["fr", "en"],
      ] as const) {
        const headers = { "accept-language": header };
        const { text } = await app.client.get("/status/verify", { headers });
        assert.match(text, new RegExp(`<html[^>]* lang="${language}"`), header);
      }
    });
  });
});
