import { Migration } from "@mikro-orm/migrations";

export class Migration20261128223414_audit_outcomes extends Migration {
  override name = "Migration20261128223414_audit_outcomes";

  override up(): void | Promise<void> {
    this.addSql(
      `alter table "audit_log" add "outcome" text not null default 'started', add "num_changed" int null, add "request_id" varchar(64) null;`,
    );
    this.addSql(`create index "audit_log_operator_index" on "audit_log" ("operator", "id");`);
    this.addSql(`create index "audit_log_action_index" on "audit_log" ("action", "id");`);
    this.addSql(`create index "audit_log_target_index" on "audit_log" ("target", "id");`);
    this.addSql(
      `alter table "audit_log" add constraint "audit_log_outcome_check" check ("outcome" in ('started', 'done', 'refused', 'failed'));`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop index "audit_log_operator_index";`);
    this.addSql(`drop index "audit_log_action_index";`);
    this.addSql(`drop index "audit_log_target_index";`);
    this.addSql(`alter table "audit_log" drop constraint "audit_log_outcome_check";`);
    this.addSql(
      `alter table "audit_log" drop column "outcome", drop column "num_changed", drop column "request_id";`,
    );
  }
}
