import { Migration } from "@mikro-orm/migrations";

export class Migration20261128192048_replaced_addresses extends Migration {
  override name = "Migration20261128192048_replaced_addresses";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "replaced_addresses" ("id" serial primary key, "player_id" int not null, "email_key" varchar(254) not null, "verified_at" timestamptz not null, "token_id" varchar(22) not null, "replaced_at" timestamptz not null, "expires_at" timestamptz not null, "superseded_at" timestamptz null);`,
    );
    this.addSql(
      `create index "replaced_addresses_email_key_index" on "replaced_addresses" ("email_key");`,
    );
    this.addSql(
      `create index "replaced_addresses_expires_at_index" on "replaced_addresses" ("expires_at");`,
    );
    this.addSql(
      `create index "replaced_addresses_player_index" on "replaced_addresses" ("player_id", "id");`,
    );
    this.addSql(
      `create unique index replaced_addresses_current_unique on replaced_addresses (player_id) where superseded_at is null;`,
    );

    this.addSql(`alter table "api_keys" add "rolled_at" timestamptz null;`);

    this.addSql(`alter table "token_families" add "proved_at" timestamptz null;`);

    this.addSql(
      `alter table "replaced_addresses" add constraint "replaced_addresses_player_id_foreign" foreign key ("player_id") references "players" ("id");`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "replaced_addresses" cascade;`);

    this.addSql(`alter table "api_keys" drop column "rolled_at";`);

    this.addSql(`alter table "token_families" drop column "proved_at";`);
  }
}
