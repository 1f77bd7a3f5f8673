import { ConcurrentIndex } from "../concurrent-index.ts";

export class Migration20261128230004_audit_requests extends ConcurrentIndex {
  override name = "Migration20261128230004_audit_requests";
  protected readonly indexName = "audit_log_request_index";
  protected readonly on = "audit_log (request_id) where request_id is not null";
}
