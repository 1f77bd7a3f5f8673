import { Migration } from "@mikro-orm/migrations";

export class Migration20261128223413_fault_actions extends Migration {
  override name = "Migration20261128223413_fault_actions";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "fault_actions" ("id" serial primary key, "group_id" varchar(32) not null, "kind" text not null, "place" varchar(120) not null, "operator" varchar(64) not null, "reason" varchar(500) not null, "rate" int not null, "state" text not null, "num_jobs" int not null default 0, "num_left_out" int not null default 0, "num_succeeded" int not null default 0, "num_failed_again" int not null default 0, "num_removed" int not null default 0, "num_skipped" int not null default 0, "num_waiting" int not null default 0, "created_at" timestamptz not null, "started_at" timestamptz null, "ended_at" timestamptz null);`,
    );
    this.addSql(`create index "fault_actions_group_index" on "fault_actions" ("group_id", "id");`);
    this.addSql(
      `create unique index fault_actions_open_unique on fault_actions (group_id) where ended_at is null;`,
    );

    this.addSql(
      `alter table "fault_actions" add constraint "fault_actions_kind_check" check ("kind" in ('retry', 'remove'));`,
    );
    this.addSql(
      `alter table "fault_actions" add constraint "fault_actions_state_check" check ("state" in ('queued', 'running', 'done', 'stopped', 'cancelled', 'failed'));`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "fault_actions" cascade;`);
  }
}
