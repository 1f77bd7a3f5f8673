import { ConcurrentIndex } from "../concurrent-index.ts";

export class Migration20261128230003_audit_targets extends ConcurrentIndex {
  override name = "Migration20261128230003_audit_targets";
  protected readonly indexName = "audit_log_target_index";
  protected readonly on = "audit_log (target, id)";
}
