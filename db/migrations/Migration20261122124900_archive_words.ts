import { Migration } from "@mikro-orm/migrations";

/** Search words belong to the head of a branch: the same document may be spoken of in other words elsewhere. */
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
