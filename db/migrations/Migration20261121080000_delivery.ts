import { Migration } from "@mikro-orm/migrations";

export class Migration20261121080000_delivery extends Migration {
  override name = "Migration20261121080000_delivery";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "contact_messages" ("id" serial primary key, "fullname" varchar(255) not null, "email" varchar(320) not null, "discovery" varchar(64) not null, "subject" varchar(255) not null, "message" text not null, "created_at" timestamptz not null);`,
    );
    this.addSql(
      `create index "contact_messages_created_at_index" on "contact_messages" ("created_at");`,
    );

    this.addSql(
      `create table "email_verifications" ("player_id" int not null, "token_hash" varchar(64) not null, "email_key" varchar(254) not null, "expires_at" timestamptz not null, primary key ("player_id"));`,
    );
    this.addSql(
      `create index "email_verifications_expires_at_index" on "email_verifications" ("expires_at");`,
    );

    this.addSql(
      `create table "feedback" ("id" serial primary key, "kind" text not null, "source" varchar(64) not null, "message" text not null, "email" varchar(320) null, "route" varchar(512) null, "context" jsonb null, "user_id" int null, "player_id" int null, "created_at" timestamptz not null);`,
    );
    this.addSql(`create index "feedback_created_at_index" on "feedback" ("created_at");`);

    this.addSql(
      `create table "messages" ("id" serial primary key, "kind" text not null, "template" varchar(64) not null, "locale" varchar(35) not null, "recipient" varchar(320) not null, "sealed" text null, "status" text not null default 'queued', "attempts" int not null default 0, "claimed_at" timestamptz null, "last_error" varchar(255) null, "content" jsonb null, "created_at" timestamptz not null, "sent_at" timestamptz null, "expires_at" timestamptz not null);`,
    );
    this.addSql(`create index "messages_created_at_index" on "messages" ("created_at");`);
    this.addSql(
      `create index messages_waiting_index on messages (created_at) where status in ('queued', 'sending');`,
    );
    this.addSql(
      `create index "messages_recipient_index" on "messages" ("recipient", "created_at");`,
    );

    this.addSql(
      `create table "subscribers" ("id" serial primary key, "email" varchar(320) not null, "email_key" varchar(254) not null, "channels" text[] not null default '{}', "locale" varchar(35) not null default 'en', "verify_hash" varchar(64) null, "verify_expires_at" timestamptz null, "verified_at" timestamptz null, "unsubscribed_at" timestamptz null, "created_at" timestamptz not null, "updated_at" timestamptz not null);`,
    );
    this.addSql(
      `alter table "subscribers" add constraint "subscribers_email_key_unique" unique ("email_key");`,
    );
    this.addSql(`create index "subscribers_updated_at_index" on "subscribers" ("updated_at");`);

    this.addSql(
      `alter table "feedback" add constraint "feedback_kind_check" check ("kind" in ('bug', 'idea', 'praise', 'other'));`,
    );

    this.addSql(
      `alter table "messages" add constraint "messages_kind_check" check ("kind" in ('mail', 'sms'));`,
    );
    this.addSql(
      `alter table "messages" add constraint "messages_status_check" check ("status" in ('queued', 'sending', 'sent', 'failed', 'expired'));`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "contact_messages" cascade;`);
    this.addSql(`drop table if exists "email_verifications" cascade;`);
    this.addSql(`drop table if exists "feedback" cascade;`);
    this.addSql(`drop table if exists "messages" cascade;`);
    this.addSql(`drop table if exists "subscribers" cascade;`);
  }
}
