import { Migration } from "@mikro-orm/migrations";
import { hasInnerSign, searchWords } from "../../server/platform/text/search-words.ts";

interface Head {
  entity_id: number;
  name: string;
  description: string | null;
}

const sliceRows = 1_000;
const openOrd = 2_147_483_647;

/**
 * Makes entities findable without the apostrophes and dots inside their words. Name and English description of every
 * present entity are read, in slices; only entities with such a word are written.
 */
export class Migration20261128200000_search_signs extends Migration {
  override name = "Migration20261128200000_search_signs";

  override async up(): Promise<void> {
    const branches = (await this.execute(
      "select distinct branch_id as id from codex_head order by 1",
    )) as { id: number }[];
    for (const { id } of branches) await this.#rebuild(id, await this.#englishOf(id));
  }

  async #englishOf(branch: number): Promise<Readonly<Record<string, unknown>>> {
    const [row] = (await this.execute(
      `select texts from codex_texts
        where branch_id = ? and to_ord = ${openOrd} and lower(locale) = 'en'`,
      [branch],
    )) as { texts: Record<string, unknown> }[];
    return row?.texts ?? {};
  }

  async #rebuild(branch: number, english: Readonly<Record<string, unknown>>): Promise<void> {
    for (let last = 0; ;) {
      const rows = (await this.execute(
        `select entity_id, name, case when jsonb_typeof(data -> 'description') = 'string'
            then data ->> 'description' end as description
          from codex_head where branch_id = ? and entity_id > ?
          order by entity_id limit ${sliceRows}`,
        [branch, last],
      )) as Head[];
      const end = rows.at(-1);
      if (end === undefined) return;
      await this.#write(
        branch,
        rows.map((row) => ({ ...row, text: textOf(row, english) })),
      );
      last = end.entity_id;
    }
  }

  async #write(branch: number, rows: readonly { entity_id: number; text: string }[]) {
    const heads = rows
      .filter(({ text }) => hasInnerSign(text))
      .map(({ entity_id, text }) => ({ entity_id, words: searchWords(text).join(" ") }));
    if (heads.length === 0) return;
    await this.execute(
      `update codex_head h set search = array_to_tsvector(string_to_array(one.words, ' '))
        from jsonb_to_recordset(?::jsonb) as one(entity_id int, words text)
        where h.branch_id = ? and h.entity_id = one.entity_id`,
      [JSON.stringify(heads), branch],
    );
  }

  /** The words of the parts are still there, and the whole words match only queries without signs. */
  override down(): void {}
}

/** The searched text of an entity, as imports compose it. */
function textOf({ name, description }: Head, english: Readonly<Record<string, unknown>>): string {
  const text = Object.hasOwn(english, description ?? "") ? english[description ?? ""] : null;
  return `${name}\n${typeof text === "string" ? text : (description ?? "")}`;
}
