import { Migration } from "@mikro-orm/migrations";

export class Migration20261126112500_address_proofs extends Migration {
  override name = "Migration20261126112500_address_proofs";

  override up(): void | Promise<void> {
    this.addSql(
      `alter table "players" add "password_by" varchar(22) null, add "phone_by" varchar(22) null,
        add "address_set_at" timestamptz null, add "address_ip" varchar(45) null,
        add "address_agent" varchar(255) null, add "address_device" varchar(64) null;`,
    );
    this.addSql(`alter table "token_families" add "revoked_reason" varchar(32) null;`);
    this.addSql(
      `create index token_families_reason_index on token_families (revoked_at) where revoked_reason is not null;`,
    );
    this.addSql(
      `alter table "api_keys" add "created_by" varchar(22) null, add "revoked_reason" varchar(32) null;`,
    );

    this.addSql(
      `alter table "oauth_connections" add "linked_by" varchar(22) null,
        add "revoked_at" timestamptz null, add "revoked_reason" varchar(32) null;`,
    );
    this.addSql(
      `alter table "oauth_connections" drop constraint "oauth_connections_subject_unique";`,
    );
    this.addSql(
      `alter table "oauth_connections" drop constraint "oauth_connections_player_unique";`,
    );
    this.addSql(
      `create unique index oauth_connections_subject_unique on oauth_connections (provider, subject) where revoked_at is null;`,
    );
    this.addSql(
      `create unique index oauth_connections_player_unique on oauth_connections (player_id, provider) where revoked_at is null;`,
    );

    this.addSql(
      `create table "revocations" ("id" serial primary key, "player_id" int not null,
        "kind" text not null, "label" varchar(320) null, "reason" varchar(32) not null,
        "attached_at" timestamptz null, "revoked_at" timestamptz not null);`,
    );
    this.addSql(
      `alter table "revocations" add constraint "revocations_player_id_foreign" foreign key ("player_id") references "players" ("id");`,
    );
    this.addSql(
      `alter table "revocations" add constraint "revocations_kind_check" check ("kind" in ('session', 'consent', 'password', 'phone', 'api_key', 'connection'));`,
    );
    this.addSql(`create index "revocations_player_index" on "revocations" ("player_id", "id");`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table "revocations";`);

    this.addSql(`delete from "oauth_connections" where revoked_at is not null;`);
    this.addSql(`drop index oauth_connections_player_unique;`);
    this.addSql(`drop index oauth_connections_subject_unique;`);
    this.addSql(
      `alter table "oauth_connections" add constraint "oauth_connections_player_unique" unique ("player_id", "provider");`,
    );
    this.addSql(
      `alter table "oauth_connections" add constraint "oauth_connections_subject_unique" unique ("provider", "subject");`,
    );
    this.addSql(
      `alter table "oauth_connections" drop column "linked_by", drop column "revoked_at", drop column "revoked_reason";`,
    );

    this.addSql(`alter table "api_keys" drop column "created_by", drop column "revoked_reason";`);
    this.addSql(`alter table "token_families" drop column "revoked_reason";`);
    this.addSql(
      `alter table "players" drop column "password_by", drop column "phone_by",
        drop column "address_set_at", drop column "address_ip", drop column "address_agent",
        drop column "address_device";`,
    );
  }
}
