import { UnrecoverableError } from "bullmq";
import {
  deliverMessage,
  type DeliveryDeps,
} from "../../server/features/delivery/domain/deliver.ts";
import { DeliveryError } from "../../server/features/delivery/providers/messages.ts";
import type { mail, PayloadOf } from "../queues.ts";

/** Sends the message a job names; one that is done already is left alone (S38). */
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
