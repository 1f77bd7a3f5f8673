import { Migration } from "@mikro-orm/migrations";

export class Migration20261128223414_audit_outcomes extends Migration {
  override name = "Migration20261128223414_audit_outcomes";

  override up(): void | Promise<void> {
    this.addSql(
      `alter table "audit_log" add "outcome" text not null default 'started', add "num_changed" int null, add "request_id" varchar(64) null;`,
    );
    this.addSql(
      `alter table "audit_log" add constraint "audit_log_outcome_check" check ("outcome" in ('started', 'done', 'refused', 'failed')) not valid;`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "audit_log" drop constraint "audit_log_outcome_check";`);
    this.addSql(
      `alter table "audit_log" drop column "outcome", drop column "num_changed", drop column "request_id";`,
    );
  }
}
