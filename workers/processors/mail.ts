import {
  deliverMessage,
  type DeliveryDeps,
} from "../../server/features/delivery/domain/deliver.ts";
import type { mail, PayloadOf } from "../queues.ts";

/** Sends the message named by a job, unless it has already been sent (S38). */
export async function sendMail(
  { messageId }: PayloadOf<typeof mail>,
  deps: DeliveryDeps,
): Promise<void> {
  await deliverMessage(deps, messageId);
}
