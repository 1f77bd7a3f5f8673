import { Migration } from "@mikro-orm/migrations";

export class Migration20261121084643_identity extends Migration {
  override name = "Migration20261121084643_identity";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "credential_requests" ("id" serial primary key, "purpose" text not null, "channel" text not null, "email_key" varchar(254) not null, "realm" varchar(63) not null, "created_at" timestamptz not null);`,
    );
    this.addSql(
      `create index "credential_requests_created_at_index" on "credential_requests" ("created_at");`,
    );

    this.addSql(
      `create table "password_resets" ("player_id" int not null, "token_hash" varchar(64) not null, "password_mark" varchar(64) not null, "expires_at" timestamptz not null, primary key ("player_id"));`,
    );
    this.addSql(
      `create index "password_resets_expires_at_index" on "password_resets" ("expires_at");`,
    );

    this.addSql(
      `create table "oauth_connections" ("id" serial primary key, "player_id" int not null, "provider" varchar(32) not null, "subject" varchar(255) not null, "name" varchar(64) null, "avatar_url" varchar(2048) null, "linked_at" timestamptz not null);`,
    );
    this.addSql(
      `alter table "oauth_connections" add constraint "oauth_connections_subject_unique" unique ("provider", "subject");`,
    );
    this.addSql(
      `alter table "oauth_connections" add constraint "oauth_connections_player_unique" unique ("player_id", "provider");`,
    );

    this.addSql(
      `create table "sign_in_codes" ("player_id" int not null, "code_hash" varchar(64) not null, "channel" text not null, "email_key" varchar(254) not null, "tries" int not null default 0, "expires_at" timestamptz not null, "issued" int not null default 1, "window_started_at" timestamptz not null, primary key ("player_id"));`,
    );
    this.addSql(`create index "sign_in_codes_expires_at_index" on "sign_in_codes" ("expires_at");`);

    this.addSql(
      `create table "used_tokens" ("jti" varchar(64) not null, "expires_at" timestamptz not null, primary key ("jti"));`,
    );
    this.addSql(`create index "used_tokens_expires_at_index" on "used_tokens" ("expires_at");`);

    this.addSql(
      `alter table "credential_requests" add constraint "credential_requests_purpose_check" check ("purpose" in ('code', 'reset'));`,
    );
    this.addSql(
      `alter table "credential_requests" add constraint "credential_requests_channel_check" check ("channel" in ('email', 'sms'));`,
    );

    this.addSql(
      `alter table "oauth_connections" add constraint "oauth_connections_player_id_foreign" foreign key ("player_id") references "players" ("id");`,
    );

    this.addSql(
      `alter table "sign_in_codes" add constraint "sign_in_codes_channel_check" check ("channel" in ('email', 'sms'));`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "credential_requests" cascade;`);
    this.addSql(`drop table if exists "password_resets" cascade;`);
    this.addSql(`drop table if exists "oauth_connections" cascade;`);
    this.addSql(`drop table if exists "sign_in_codes" cascade;`);
    this.addSql(`drop table if exists "used_tokens" cascade;`);
  }
}
