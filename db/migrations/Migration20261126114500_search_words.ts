import { Migration } from "@mikro-orm/migrations";
import { searchWords } from "../../server/platform/text/search-words.ts";

interface Head {
  branch_id: number;
  entity_id: number;
  words: string[];
}

const sliceRows = 500;

/**
 * Makes entities findable without accents and within texts that have no spaces. ASCII words stay as they
 * are.
 */
export class Migration20261126114500_search_words extends Migration {
  override name = "Migration20261126114500_search_words";

  override async up(): Promise<void> {
    for (let last = { branch_id: 0, entity_id: 0 }; ;) {
      const rows = (await this.execute(
        `select branch_id, entity_id, tsvector_to_array(search) as words from codex_head
          where (branch_id, entity_id) > (?, ?) and octet_length(search::text) <> length(search::text)
          order by branch_id, entity_id limit ${sliceRows}`,
        [last.branch_id, last.entity_id],
      )) as Head[];
      const end = rows.at(-1);
      if (end === undefined) return;
      const heads = rows.map(({ words, ...key }) => ({
        ...key,
        words: searchWords(words.join(" ")).join(" "),
      }));
      await this.execute(
        `update codex_head h set search = array_to_tsvector(string_to_array(one.words, ' '))
          from jsonb_to_recordset(?::jsonb) as one(branch_id int, entity_id int, words text)
          where h.branch_id = one.branch_id and h.entity_id = one.entity_id`,
        [JSON.stringify(heads)],
      );
      last = end;
    }
  }

  /** The previous words with accents are lost; the next import of an entity restores them. */
  override down(): void {}
}
