import { ConcurrentIndex } from "../concurrent-index.ts";

export class Migration20261128230001_audit_operators extends ConcurrentIndex {
  override name = "Migration20261128230001_audit_operators";
  protected readonly indexName = "audit_log_operator_index";
  protected readonly on = "audit_log (operator, id)";
}
