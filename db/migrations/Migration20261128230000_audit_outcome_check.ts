import { Migration } from "@mikro-orm/migrations";

export class Migration20261128230000_audit_outcome_check extends Migration {
  override name = "Migration20261128230000_audit_outcome_check";

  override up(): void | Promise<void> {
    this.addSql(`alter table "audit_log" validate constraint "audit_log_outcome_check";`);
  }

  /** A valid constraint stays valid. */
  override down(): void {}
}
