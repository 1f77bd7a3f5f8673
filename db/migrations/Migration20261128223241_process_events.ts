import { Migration } from "@mikro-orm/migrations";

export class Migration20261128223241_process_events extends Migration {
  override name = "Migration20261128223241_process_events";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "process_events" ("id" serial primary key, "key" varchar(40) not null, "kind" varchar(32) not null, "at" timestamptz not null, "service" varchar(16) not null, "role" varchar(16) not null, "slot" int not null, "pid" int not null, "instance" varchar(64) null, "version" varchar(64) null, "build" varchar(16) null, "detail" jsonb not null default '{}');`,
    );
    this.addSql(
      `alter table "process_events" add constraint "process_events_key_unique" unique ("key");`,
    );
    this.addSql(`create index "process_events_at_index" on "process_events" ("at");`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "process_events" cascade;`);
  }
}
