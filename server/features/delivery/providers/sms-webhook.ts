import type { Fault } from "../../../platform/faults/fault.ts";
import { connectionFault, statusFault } from "../../../platform/faults/http-fault.ts";
import { readWebhook, type Webhook } from "../../../platform/net/webhook.ts";
import { sendLimitMs, type OutgoingSms, type Sender } from "./messages.ts";

/** Statuses worth a retry. */
const passing: ReadonlySet<number> = new Set([408, 425, 429]);

/**
 * Sends each text message to a configured address: POST `{id, to, text}` as JSON, any 2xx is success.
 * `Idempotency-Key` is equal at every attempt. No other host is called (S24).
 */
export function createSmsWebhook(url: string): Sender<OutgoingSms> {
  const webhook = readWebhook(url);
  return {
    name: "webhook",
    keepsContent: false,
    send: async (message) => {
      const fault = await post(webhook, message);
      if (fault !== null) throw fault;
    },
    close: () => {},
  };
}

/** Why the message was not taken; null if it was. */
async function post(
  { url: target, headers }: Webhook,
  message: OutgoingSms,
): Promise<Fault | null> {
  try {
    const response = await fetch(target, {
      method: "POST",
      redirect: "manual",
      signal: AbortSignal.timeout(sendLimitMs),
      headers: {
        "Content-Type": "application/json",
        "Idempotency-Key": message.id,
        ...headers,
      },
      body: JSON.stringify(message),
    });
    const { status } = response;
    if (!response.ok)
      return await statusFault("sms", target, response, {
        isPermanent: status >= 400 && status < 500 && !passing.has(status),
        secrets: [message.to, message.text],
      });
    // Only the status of a success is read.
    await response.body?.cancel();
    return null;
  } catch (error) {
    return connectionFault("sms", target, error);
  }
}
