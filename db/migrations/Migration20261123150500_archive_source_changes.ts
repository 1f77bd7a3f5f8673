import { Migration } from "@mikro-orm/migrations";

export class Migration20261123150500_archive_source_changes extends Migration {
  override name = "Migration20261123150500_archive_source_changes";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "codex_source_changes" ("branch_id" int not null, "source_patch_id" int not null, "source_revision" int not null, "patch_id" int not null, "revision" int not null, "changes" text not null, primary key ("branch_id"));`,
    );
    // Hashes do not compress, so every import would try in vain.
    this.addSql(`alter table "codex_source_changes" alter column "changes" set storage external;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table "codex_source_changes";`);
  }
}
