import { Migration } from "@mikro-orm/migrations";

export class Migration20261121200945_archive_sources extends Migration {
  override name = "Migration20261121200945_archive_sources";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "codex_sources" ("branch_id" int not null, "patch_id" int not null, "revision" int not null, "context" char(64) not null, "entities" text not null, primary key ("branch_id"));`,
    );
    // Hashes do not compress, so every import would try in vain.
    this.addSql(`alter table "codex_sources" alter column "entities" set storage external;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table "codex_sources";`);
  }
}
