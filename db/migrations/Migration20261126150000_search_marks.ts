import { Migration } from "@mikro-orm/migrations";
import { foldForSearch, searchWords } from "../../server/platform/text/search-words.ts";

interface Head {
  branch_id: number;
  entity_id: number;
  name: string;
  words: string[];
}

const sliceRows = 500;
const maxWords = 2_048;

/**
 * Makes entities findable without vowel points and other optional marks. Stored words lose these marks;
 * names are split again, because some of the marks used to separate words.
 */
export class Migration20261126150000_search_marks extends Migration {
  override name = "Migration20261126150000_search_marks";

  override async up(): Promise<void> {
    for (let last = { branch_id: 0, entity_id: 0 }; ;) {
      const rows = (await this.execute(
        `select branch_id, entity_id, name, tsvector_to_array(search) as words from codex_head
          where (branch_id, entity_id) > (?, ?) and (octet_length(search::text) <> length(search::text)
            or octet_length(name) <> length(name))
          order by branch_id, entity_id limit ${sliceRows}`,
        [last.branch_id, last.entity_id],
      )) as Head[];
      const end = rows.at(-1);
      if (end === undefined) return;
      await this.#write(rows);
      last = end;
    }
  }

  async #write(rows: readonly Head[]): Promise<void> {
    const heads = rows.map(({ branch_id, entity_id, name, words }) => ({
      branch_id,
      entity_id,
      words: [...new Set([...(isAscii(name) ? [] : searchWords(name)), ...words.map(withoutMarks)])]
        .filter((word) => word !== "")
        .slice(0, maxWords)
        .join(" "),
    }));
    await this.execute(
      `update codex_head h set search = array_to_tsvector(string_to_array(one.words, ' '))
        from jsonb_to_recordset(?::jsonb) as one(branch_id int, entity_id int, words text)
        where h.branch_id = one.branch_id and h.entity_id = one.entity_id`,
      [JSON.stringify(heads)],
    );
  }

  /** The previous words with marks are lost; the next import of an entity restores them. */
  override down(): void {}
}

/** Stored segments of texts without spaces are not split again. */
const withoutMarks = (word: string): string => foldForSearch(word).replace(/^\p{M}+/u, "");

const isAscii = (text: string) => Buffer.byteLength(text) === text.length;
