import { Migration } from "@mikro-orm/migrations";

export class Migration20261121114041_oauth extends Migration {
  override name = "Migration20261121114041_oauth";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "oauth_clients" ("id" serial primary key, "client_id" varchar(32) not null, "realm_id" int not null, "name" varchar(64) not null, "secret_hash" varchar(64) null, "redirect_uris" text[] not null default '{}', "created_at" timestamptz not null default now(), "revoked_at" timestamptz null);`,
    );
    this.addSql(
      `alter table "oauth_clients" add constraint "oauth_clients_client_id_unique" unique ("client_id");`,
    );

    this.addSql(
      `alter table "oauth_clients" add constraint "oauth_clients_realm_id_foreign" foreign key ("realm_id") references "realms" ("id");`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "oauth_clients" cascade;`);
  }
}
