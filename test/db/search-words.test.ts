import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sql } from "kysely";
import { createOrm } from "../../db/orm.ts";
import { foldedText, foldedTitle } from "../../db/queries/gamedata/projection-list.ts";
import { rowsOf } from "../../db/queries/rows.ts";
import { foldForSearch, foldTitle } from "../../server/platform/text/search-words.ts";
import { testStores, type TestStores } from "../support/stores.ts";
import { fc } from "../support/seed.ts";
import { emptyDatabase } from "./empty-database.ts";

describe("the migration of search words", () => {
  const { withOrm } = emptyDatabase("words");

  it("rebuilds stored words across all its batches, and keeps ASCII words unchanged", async () => {
    await withOrm(async (orm) => {
      await orm.migrator.up({ to: "Migration20261126112000_address_forms" });
      const em = orm.em.fork();
      await rowsOf(
        em,
        sql`insert into codex_head (branch_id, entity_id, type, document_id, patch_id, name, tags, data, search)
          select 1, n, 'item', n, 1, 'x', '{}', '{}', array_to_tsvector(case when n % 2 = 0
            then array['épée', '永恒冰霜护符'] else array['sword'] end)
          from generate_series(1, 1203) n`,
      );
      await orm.migrator.up();
      const rows = await rowsOf(
        em,
        sql<{ words: string[]; count: number }>`
          select tsvector_to_array(search) as words, count(*)::int as count from codex_head
          group by search order by 2`,
      );
      assert.deepEqual(
        rows.map(({ words, count }) => [[...words].sort(), count]),
        [
          [["epee", "冰霜护符", "恒冰霜护", "护符", "永恒冰霜", "符", "霜护符"], 601],
          [["sword"], 602],
        ],
      );
    });
  });

  it("removes diacritics from stored words, and splits names again", async () => {
    await withOrm(async (orm) => {
      await orm.migrator.up();
      await orm.migrator.down({ to: "Migration20261126120000_sign_in_numbers" });
      const em = orm.em.fork();
      await rowsOf(em, sql`delete from codex_head`);
      await rowsOf(
        em,
        sql`insert into codex_head (branch_id, entity_id, type, document_id, patch_id, name, tags, data, search)
          select 1, n, 'item', n, 1, case when n = 7 then ${"re\u00adturn"} else 'x' end, '{}', '{}',
            array_to_tsvector(case when n % 2 = 0
              then array[${"שָׁלוֹם"}, ${"\ufe0fblade"}, ${"\ufe0f"}, '冰霜护符'] else array['sword'] end)
          from generate_series(1, 1203) n`,
      );
      await orm.migrator.up();
      const rows = await rowsOf(
        em,
        sql<{ words: string[]; count: number }>`
          select tsvector_to_array(search) as words, count(*)::int as count from codex_head
          group by search order by 2, min(entity_id)`,
      );
      assert.deepEqual(
        rows.map(({ words, count }) => [[...words].sort(), count]),
        [
          [["return", "sword"], 1],
          [["sword"], 601],
          [["blade", "שלום", "冰霜护符"], 601],
        ],
      );
    });
  });
});

describe("the migration of words with apostrophes and dots", () => {
  const { withOrm } = emptyDatabase("signs");

  it("rebuilds those of names and English descriptions on each branch, and writes no other row", async () => {
    await withOrm(async (orm) => {
      const former = "Migration20261126190000_connection_constraints";
      await orm.migrator.up({ to: former });
      const em = orm.em.fork();
      await rowsOf(
        em,
        sql`insert into codex_texts (branch_id, locale, from_ord, to_ord, hash, texts, is_inherited)
          values (1, 'en', 1, 3, repeat('0', 64), '{"d": "It''s old"}', false),
            (1, 'EN', 3, 2147483647, repeat('0', 64), '{"d": "King''s own"}', false),
            (1, 'de', 1, 2147483647, repeat('0', 64), '{"d": "Geht''s"}', false)`,
      );
      await rowsOf(
        em,
        sql`insert into codex_head (branch_id, entity_id, type, document_id, patch_id, name, tags, data, search)
          select branch, n, 'item', n, 1, case n % 3 when 0 then 'R.O.B.' else 'Plain' end, '{}',
            case n % 3 when 1 then '{"description": "d"}' else '{}' end::jsonb,
            array_to_tsvector(array['former'])
          from generate_series(1, 2403) n cross join generate_series(1, 2) branch`,
      );
      const shown = async () => {
        const rows = await rowsOf(
          em,
          sql<{ branch: number; words: string[]; count: number }>`
            select branch_id as branch, tsvector_to_array(search) as words, count(*)::int as count
            from codex_head group by branch_id, search order by branch_id, min(entity_id)`,
        );
        return rows.map(({ branch, words, count }) => [branch, [...words].sort(), count]);
      };
      const expected = [
        [1, ["king", "kings", "own", "plain", "s"], 801],
        [1, ["former"], 801],
        [1, ["b", "o", "r", "rob"], 801],
        [2, ["former"], 1602],
        [2, ["b", "o", "r", "rob"], 801],
      ];
      await orm.migrator.up();
      assert.deepEqual(await shown(), expected);
      await orm.migrator.down({ to: former });
      await orm.migrator.up();
      assert.deepEqual(await shown(), expected);
    });
  });
});

describe("texts folded by SQL", () => {
  let stores: TestStores;
  before(async () => {
    stores = await testStores();
  });
  after(() => stores.stop());

  it("equal the texts that JavaScript folds", async () => {
    const orm = await createOrm({ DATABASE_URL: stores.databaseUrl, DATABASE_POOL: 2 });
    try {
      const texts = fc.sample(
        fc
          .array(
            fc.constantFrom(...blocks).chain(([first, last]) => signs(first, last)),
            {
              maxLength: 12,
            },
          )
          .map((letters) => letters.join("")),
        { numRuns: 5_000, seed: 22 },
      );
      const rows = await rowsOf(
        orm.em.fork(),
        sql<{ text: string; folded: string; title: string }>`
          select one.text, ${foldedText(sql`one.text`)} as folded,
            ${foldedTitle(sql`one.text`)} as title
          from jsonb_array_elements_text(${JSON.stringify(texts)}::jsonb) as one(text)`,
      );
      assert.equal(rows.length, texts.length);
      for (const { text, folded, title } of rows)
        assert.deepEqual(
          [folded, title],
          [foldForSearch(text), foldTitle(text)],
          JSON.stringify(text),
        );
    } finally {
      await orm.close(true);
    }
  });
});

/** Latin, Greek, Cyrillic, Hebrew, Arabic, Syriac, Thaana, India, Thailand, kana, Han, Hangul, symbols, forms. */
const blocks = [
  ...([
    [0x20, 0x24f],
    [0x250, 0x36f],
    [0x370, 0x52f],
    [0x591, 0x5f4],
    [0x600, 0x7bf],
  ] as const),
  ...([
    [0x8a0, 0x8ff],
    [0x900, 0xdff],
    [0xe00, 0xeff],
    [0x1100, 0x11ff],
    [0x1d00, 0x1fff],
  ] as const),
  ...([
    [0x2000, 0x2bff],
    [0x3000, 0x30ff],
    [0x4e00, 0x4eff],
    [0xac00, 0xacff],
  ] as const),
  ...([
    [0xfb00, 0xffef],
    [0x1d400, 0x1d7ff],
    [0xe0100, 0xe01ef],
  ] as const),
] as const;

/**
 * Assigned characters of blocks that were complete long ago, since a store may use an older Unicode
 * version.
 */
const signs = (first: number, last: number) =>
  fc
    .integer({ min: first, max: last })
    .map((point) => String.fromCodePoint(point))
    .filter((letter) => /^\P{Cn}$/u.test(letter));
