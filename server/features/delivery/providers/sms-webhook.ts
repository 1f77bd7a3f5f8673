import { DeliveryError, sendLimitMs, type OutgoingSms, type Sender } from "./messages.ts";

/** Statuses worth a retry. */
const passing: ReadonlySet<number> = new Set([408, 425, 429]);

/**
 * Sends each text message to a configured address: POST `{id, to, text}` as JSON, any 2xx is success.
 * `Idempotency-Key` is equal at every attempt. No other host is called (S24).
 */
export function createSmsWebhook(url: string): Sender<OutgoingSms> {
  const target = new URL(url);
  const { username, password } = target;
  const authorization =
    username === "" ? null : basic(decodeURIComponent(username), decodeURIComponent(password));
  target.username = target.password = "";
  return {
    name: "webhook",
    keepsContent: false,
    send: async (message) => {
      const status = await post(target, message, authorization);
      if (status >= 200 && status < 300) return;
      const isPermanent = status >= 400 && status < 500 && !passing.has(status);
      throw new DeliveryError(`sms webhook: status ${status}`, isPermanent);
    },
    close: () => {},
  };
}

async function post(target: URL, message: OutgoingSms, authorization: string | null) {
  try {
    const response = await fetch(target, {
      method: "POST",
      redirect: "manual",
      signal: AbortSignal.timeout(sendLimitMs),
      headers: {
        "Content-Type": "application/json",
        "Idempotency-Key": message.id,
        ...(authorization === null ? {} : { Authorization: authorization }),
      },
      body: JSON.stringify(message),
    });
    // Only the status of the response is read.
    await response.body?.cancel();
    return response.status;
  } catch (error) {
    const name =
      error instanceof Error && error.name === "TimeoutError" ? "no answer" : "no connection";
    throw new DeliveryError(`sms webhook: ${name}`, false, error);
  }
}

const basic = (user: string, password: string) =>
  `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
