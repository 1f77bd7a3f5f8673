import { Migration } from "@mikro-orm/migrations";

export class Migration20261128200523_fault_group_decisions extends Migration {
  override name = "Migration20261128200523_fault_group_decisions";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "fault_group_decisions" ("group_id" varchar(32) not null, "grouping_version" int not null, "state" text not null, "state_by" varchar(64) null, "state_at" timestamptz null, "ignored_until" timestamptz null, "ignored_more" int null, "total_at_state" bigint not null default '0', "note" varchar(2000) null, "note_by" varchar(64) null, "note_at" timestamptz null, primary key ("group_id"));`,
    );

    this.addSql(
      `alter table "fault_group_decisions" add constraint "fault_group_decisions_state_check" check ("state" in ('open', 'ignored', 'resolved'));`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "fault_group_decisions" cascade;`);
  }
}
