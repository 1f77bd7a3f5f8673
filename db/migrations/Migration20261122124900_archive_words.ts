import { Migration } from "@mikro-orm/migrations";

/**
 * Moves search words to the head of a branch, since branches may describe the same document in different
 * words.
 */
export class Migration20261122124900_archive_words extends Migration {
  override name = "Migration20261122124900_archive_words";

  override up(): void | Promise<void> {
    this.addSql(`alter table "codex_documents" drop column "words";`);
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "codex_documents" add column "words" text not null default '';`);
    this.addSql(`alter table "codex_documents" alter column "words" drop default;`);
  }
}
