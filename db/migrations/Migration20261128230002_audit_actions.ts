import { ConcurrentIndex } from "../concurrent-index.ts";

export class Migration20261128230002_audit_actions extends ConcurrentIndex {
  override name = "Migration20261128230002_audit_actions";
  protected readonly indexName = "audit_log_action_index";
  protected readonly on = "audit_log (action, id)";
}
