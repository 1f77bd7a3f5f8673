import { Migration } from "@mikro-orm/migrations";

export class Migration20261129090657_restores extends Migration {
  override name = "Migration20261129090657_restores";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "restores" ("id" serial primary key, "backup" varchar(22) not null, "taken_at" timestamptz not null, "restored_at" timestamptz not null, "lost_from" int not null, "lost_below" int not null);`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "restores" cascade;`);
  }
}
