import { ConcurrentIndex } from "../concurrent-index.ts";

export class Migration20261128230005_message_requests extends ConcurrentIndex {
  override name = "Migration20261128230005_message_requests";
  protected readonly indexName = "messages_request_index";
  protected readonly on = "messages (request_id) where request_id is not null";
}
