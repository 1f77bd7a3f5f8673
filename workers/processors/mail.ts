import { UnrecoverableError } from "bullmq";
import {
  deliverMessage,
  type DeliveryDeps,
} from "../../server/features/delivery/domain/deliver.ts";
import { DeliveryError } from "../../server/features/delivery/providers/messages.ts";
import type { mail, PayloadOf } from "../queues.ts";

/** Sends the message named by a job, unless it has already been sent (S38). */
export async function sendMail(
  { messageId }: PayloadOf<typeof mail>,
  deps: DeliveryDeps,
): Promise<void> {
  try {
    await deliverMessage(deps, messageId);
  } catch (error) {
    if (error instanceof DeliveryError && error.isPermanent)
      throw new UnrecoverableError(error.message);
    throw error;
  }
}
