import { Migration } from "@mikro-orm/migrations";

const indexes = ["codex_head_search_index", "codex_head_tags_index"] as const;

export class Migration20261121155900_archive_lists extends Migration {
  override name = "Migration20261121155900_archive_lists";

  override up(): void {
    for (const index of indexes) this.addSql(`alter index "${index}" reset (fastupdate);`);
  }

  override down(): void {
    for (const index of indexes) this.addSql(`alter index "${index}" set (fastupdate = off);`);
  }
}
