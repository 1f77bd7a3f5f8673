import { Migration } from "@mikro-orm/migrations";

export class Migration20261121074604_archive extends Migration {
  override name = "Migration20261121074604_archive";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "codex_assets" ("hash" char(64) not null, "media_type" varchar(127) not null, "bytes" int not null, "content" bytea not null, primary key ("hash"));`,
    );

    this.addSql(
      `create table "codex_documents" ("id" serial primary key, "game_id" int not null, "hash" char(64) not null, "body" text not null, "words" text not null);`,
    );
    this.addSql(
      `alter table "codex_documents" add constraint "codex_documents_hash_unique" unique ("game_id", "hash");`,
    );

    this.addSql(
      `create table "codex_games" ("id" serial primary key, "slug" varchar(63) not null, "display_name" varchar(128) not null, "generation" int not null default 0);`,
    );
    this.addSql(
      `alter table "codex_games" add constraint "codex_games_slug_unique" unique ("slug");`,
    );

    this.addSql(
      `create table "codex_entities" ("id" serial primary key, "game_id" int not null, "type" varchar(64) not null, "key" varchar(255) not null, "upstream_key" varchar(255) null);`,
    );
    this.addSql(
      `alter table "codex_entities" add constraint "codex_entities_key_unique" unique ("game_id", "key");`,
    );

    this.addSql(
      `create table "codex_branches" ("id" serial primary key, "game_id" int not null, "slug" varchar(63) not null, "parent_id" int null, "fork_patch_id" int null);`,
    );
    this.addSql(
      `alter table "codex_branches" add constraint "codex_branches_game_slug_unique" unique ("game_id", "slug");`,
    );

    this.addSql(
      `create table "codex_head" ("branch_id" int not null, "entity_id" int not null, "type" varchar(64) not null, "document_id" int not null, "patch_id" int not null, "name" text not null, "tags" text[] not null, "data" jsonb not null, "search" tsvector not null, primary key ("branch_id", "entity_id"));`,
    );
    this.addSql(
      `create index "codex_head_list_index" on "codex_head" ("branch_id", "type", "entity_id");`,
    );
    this.addSql(
      `create index codex_head_search_index on codex_head using gin (search) with (fastupdate = off);`,
    );
    this.addSql(
      `create index codex_head_tags_index on codex_head using gin (tags) with (fastupdate = off);`,
    );

    this.addSql(
      `create table "codex_patches" ("id" serial primary key, "branch_id" int not null, "ord" int not null, "parent_id" int null, "version" varchar(128) not null, "version_raw" varchar(128) not null, "released_at" timestamptz null, "imported_at" timestamptz not null, "num_added" int not null, "num_changed" int not null, "num_removed" int not null, "revision" int not null default 0);`,
    );
    this.addSql(
      `alter table "codex_patches" add constraint "codex_patches_order_unique" unique ("branch_id", "ord");`,
    );
    this.addSql(
      `alter table "codex_patches" add constraint "codex_patches_version_unique" unique ("branch_id", "version");`,
    );
    this.addSql(
      `alter table "codex_patches" add constraint "codex_patches_raw_unique" unique ("branch_id", "version_raw");`,
    );

    this.addSql(
      `create table "codex_texts" ("id" serial primary key, "branch_id" int not null, "locale" varchar(35) not null, "from_ord" int not null, "to_ord" int not null, "hash" char(64) not null, "texts" jsonb not null, "is_inherited" boolean not null default false);`,
    );
    this.addSql(
      `alter table "codex_texts" add constraint "codex_texts_start_unique" unique ("branch_id", "locale", "from_ord");`,
    );

    this.addSql(
      `create table "codex_upstream_keys" ("game_id" int not null, "upstream_key" varchar(255) not null, "entity_id" int not null, primary key ("game_id", "upstream_key"));`,
    );
    this.addSql(
      `create index codex_upstream_keys_lower_index on codex_upstream_keys (game_id, lower(upstream_key));`,
    );

    this.addSql(
      `create table "codex_versions" ("row_id" bigserial primary key, "branch_id" int not null, "entity_id" int not null, "document_id" int null, "patch_id" int not null, "from_ord" int not null, "to_ord" int not null, "is_inherited" boolean not null default false);`,
    );
    this.addSql(
      `create index "codex_versions_from_index" on "codex_versions" ("branch_id", "from_ord");`,
    );
    this.addSql(
      `create index "codex_versions_to_index" on "codex_versions" ("branch_id", "to_ord");`,
    );
    this.addSql(
      `alter table "codex_versions" add constraint "codex_versions_start_unique" unique ("branch_id", "entity_id", "from_ord");`,
    );

    this.addSql(
      `alter table "codex_entities" add constraint "codex_entities_game_id_foreign" foreign key ("game_id") references "codex_games" ("id");`,
    );

    this.addSql(
      `alter table "codex_branches" add constraint "codex_branches_game_id_foreign" foreign key ("game_id") references "codex_games" ("id");`,
    );

    this.addSql(
      `alter table "codex_patches" add constraint "codex_patches_branch_id_foreign" foreign key ("branch_id") references "codex_branches" ("id");`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "codex_entities" drop constraint "codex_entities_game_id_foreign";`);
    this.addSql(`alter table "codex_branches" drop constraint "codex_branches_game_id_foreign";`);
    this.addSql(`alter table "codex_patches" drop constraint "codex_patches_branch_id_foreign";`);

    this.addSql(`drop table if exists "codex_assets" cascade;`);
    this.addSql(`drop table if exists "codex_documents" cascade;`);
    this.addSql(`drop table if exists "codex_games" cascade;`);
    this.addSql(`drop table if exists "codex_entities" cascade;`);
    this.addSql(`drop table if exists "codex_branches" cascade;`);
    this.addSql(`drop table if exists "codex_head" cascade;`);
    this.addSql(`drop table if exists "codex_patches" cascade;`);
    this.addSql(`drop table if exists "codex_texts" cascade;`);
    this.addSql(`drop table if exists "codex_upstream_keys" cascade;`);
    this.addSql(`drop table if exists "codex_versions" cascade;`);
  }
}
