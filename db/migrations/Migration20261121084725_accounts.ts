import { Migration } from "@mikro-orm/migrations";

export class Migration20261121084725_accounts extends Migration {
  override name = "Migration20261121084725_accounts";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "phone_codes" ("id" serial primary key, "player_id" int not null, "phone" varchar(16) not null, "code_hash" varchar(64) not null, "tries" int not null default 0, "is_spent" boolean not null default false, "expires_at" timestamptz not null);`,
    );
    this.addSql(`create index "phone_codes_expires_at_index" on "phone_codes" ("expires_at");`);
    this.addSql(
      `create index "phone_codes_player_index" on "phone_codes" ("player_id", "expires_at");`,
    );

    this.addSql(
      `create table "api_keys" ("id" serial primary key, "owner_id" int not null, "realm_id" int not null, "name" varchar(128) not null, "prefix" varchar(16) not null, "secret_hash" varchar(64) not null, "scopes" text[] not null default '{}', "origins" text[] not null default '{}', "is_active" boolean not null default true, "last_used_at" timestamptz null, "expires_at" timestamptz null, "created_at" timestamptz not null, "revoked_at" timestamptz null);`,
    );
    this.addSql(
      `alter table "api_keys" add constraint "api_keys_prefix_unique" unique ("prefix");`,
    );
    this.addSql(`create index "api_keys_owner_index" on "api_keys" ("owner_id", "realm_id");`);

    this.addSql(`alter table "players" add "purged_at" timestamptz null;`);
    this.addSql(
      `create index players_closed_index on players (deleted_at) where deleted_at is not null and purged_at is null;`,
    );

    this.addSql(
      `alter table "api_keys" add constraint "api_keys_owner_id_foreign" foreign key ("owner_id") references "players" ("id");`,
    );
    this.addSql(
      `alter table "api_keys" add constraint "api_keys_realm_id_foreign" foreign key ("realm_id") references "realms" ("id");`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "phone_codes" cascade;`);
    this.addSql(`drop table if exists "api_keys" cascade;`);

    this.addSql(`drop index "players_closed_index";`);
    this.addSql(`alter table "players" drop column "purged_at";`);
  }
}
