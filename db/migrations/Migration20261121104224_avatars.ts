import { Migration } from "@mikro-orm/migrations";

export class Migration20261121104224_avatars extends Migration {
  override name = "Migration20261121104224_avatars";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "avatar_uploads" ("id" serial primary key, "player_id" int not null, "status" varchar(16) not null, "file" varchar(64) null, "hash" bit(64) null, "scores" jsonb null, "rejection_reason" varchar(255) null, "judged_by" varchar(80) null, "judged_at" timestamptz null, "selection_v" int not null, "undo" jsonb null, "created_at" timestamptz not null);`,
    );
    this.addSql(
      `create index "avatar_uploads_player_index" on "avatar_uploads" ("player_id", "id");`,
    );
    this.addSql(`create index "avatar_uploads_status_index" on "avatar_uploads" ("status", "id");`);
    this.addSql(
      `create index avatar_uploads_rejected_index on avatar_uploads (id) where status = 'rejected' and hash is not null;`,
    );

    this.addSql(
      `alter table "players" add "avatar_source" varchar(32) null, add "avatar_icon" varchar(64) null, add "avatar_color" varchar(16) null, add "avatar_bg" varchar(16) null, add "avatar_border" varchar(16) null, add "avatar_upload_id" int null, add "avatar_updated_at" timestamptz null;`,
    );
    this.addSql(
      `create unique index players_avatar_claim_unique on players (avatar_icon, avatar_color, avatar_bg) where avatar_icon is not null;`,
    );

    this.addSql(
      `alter table "avatar_uploads" add constraint "avatar_uploads_player_id_foreign" foreign key ("player_id") references "players" ("id");`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "avatar_uploads" cascade;`);

    this.addSql(`drop index "players_avatar_claim_unique";`);
    this.addSql(
      `alter table "players" drop column "avatar_source", drop column "avatar_icon", drop column "avatar_color", drop column "avatar_bg", drop column "avatar_border", drop column "avatar_upload_id", drop column "avatar_updated_at";`,
    );
  }
}
