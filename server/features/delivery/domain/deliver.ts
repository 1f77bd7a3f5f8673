import { cutText } from "../../../platform/text/cut-text.ts";
import { setTimeout as wait } from "node:timers/promises";
import {
  claimMessage,
  findMessageStatus,
  settleMessage,
  type ClaimedMessage,
} from "../../../../db/queries/delivery/messages.ts";
import { DeadlineError, withTimeout } from "../../../platform/time/deadline.ts";
import type {
  WithClock,
  WithConfig,
  WithEm,
  WithFaults,
  WithLog,
  WithMetrics,
} from "../../../platform/capabilities.ts";
import { Fault } from "../../../platform/faults/fault.ts";
import { sendLimitMs, type Senders } from "../providers/messages.ts";
import { readBrand } from "./brand.ts";
import { isAccepted } from "./credentials.ts";
import { render, type Rendered } from "./render.ts";
import { unseal } from "./seal.ts";
import { findTemplate } from "./templates.ts";

/** Attempts before a message is a dead letter (USR-10); the queue makes as many. */
export const maxAttempts = 5;
/** Lease of a claimed message, longer than any attempt: an older claim is from a dead process. */
export const leaseMs = sendLimitMs + 10_000;
/** Time to retry the write of an outcome while Postgres is down; later the message may be sent twice. */
const writeLimitMs = 120_000;
const writePauseMs = 500;
/** Length of its column. */
const maxError = 255;

export interface DeliveryDeps
  extends WithEm, WithConfig, WithClock, WithMetrics, WithLog, WithFaults {
  senders: Senders;
}

export interface DeliveryOptions {
  maxAttempts: number;
  limitMs: number;
  /** False: the code or link becomes valid only once the message is sent. */
  isCredentialSaved: boolean;
}

const byQueue: DeliveryOptions = { maxAttempts, limitMs: sendLimitMs, isCredentialSaved: true };

/**
 * One attempt at one message. A call for a finished message does nothing; of concurrent calls one sends. A message
 * whose code or link is void ends unsent. Rejects with a `Fault` on a failure, after storing it.
 */
export async function deliverMessage(
  deps: DeliveryDeps,
  id: number,
  options = byQueue,
): Promise<void> {
  const { em, clock } = deps;
  const now = clock.now();
  const lease = { now: new Date(now), leaseStart: new Date(now - leaseMs) };
  const message = await claimMessage(em, id, lease);
  if (message === null) {
    if ((await findMessageStatus(em, id)) === "sending")
      throw new Fault("delivery.in_progress", { text: "another process is sending it" });
    return;
  }
  const settle = (status: "queued" | "sent" | "failed" | "expired", more: Settled = {}) => {
    const { error = null, content = null } = more;
    deps.metrics.messages.inc({
      kind: message.kind,
      outcome: status === "queued" ? "retried" : status,
    });
    const outcome = { status, now: new Date(clock.now()), error, content };
    return untilWritten(deps, () => settleMessage(em, message, outcome));
  };
  if (message.isExpired) return settle("expired");
  try {
    const values = openValues(deps.config, message);
    if (options.isCredentialSaved && !(await isAccepted(em, message, values, lease.now)))
      return await settle("expired", { error: "its code or link is void" });
    const { rendered, keepsContent } = await hand(deps, message, { values, ...options });
    await settle("sent", { content: keepsContent ? contentOf(rendered) : null });
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const isLast = error.isPermanent || message.attempts >= options.maxAttempts;
    await settle(isLast ? "failed" : "queued", { error: cutText(error.message, maxError) });
    throw error;
  }
}

/**
 * A message without a stored outcome is sent again (S38), so the write is retried. While Postgres is down no other
 * process can claim the message.
 */
async function untilWritten(
  { log }: Pick<DeliveryDeps, "log">,
  write: () => Promise<void>,
): Promise<void> {
  const giveUpAt = performance.now() + writeLimitMs;
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (performance.now() >= giveUpAt) throw error;
      log.warn(
        { event: "message_outcome_not_saved", reason: String(error) },
        "outcome of a message not saved, retrying",
      );
    }
    await wait(writePauseMs);
  }
}

interface Settled {
  error?: string;
  content?: ReturnType<typeof contentOf> | null;
}

async function hand(
  deps: DeliveryDeps,
  message: ClaimedMessage,
  { values, limitMs }: { values: Values; limitMs: number },
) {
  const { senders, metrics } = deps;
  const template = findTemplate(message.template);
  if (template === null) throw new Fault("delivery.unknown_template", { isPermanent: true });
  const brand = await readBrand(deps.em, deps.config, message.realm);
  const rendered = render(template, message.locale, values, brand);
  const sender = senders[message.kind];
  const end = metrics.messageSendSeconds.startTimer({ driver: sender.name });
  const base = { id: `message-${message.id}`, to: message.recipient };
  const { subject, text, html, replyTo, unsubscribeUrl, fromName } = rendered;
  try {
    const sent =
      message.kind === "mail"
        ? senders.mail.send({
            ...base,
            fromName,
            subject,
            text,
            html: html ?? "",
            replyTo,
            unsubscribeUrl,
          })
        : senders.sms.send({ ...base, text });
    await withTimeout(sent, limitMs);
  } catch (error) {
    throw error instanceof DeadlineError ? new Fault("delivery.timeout", { cause: error }) : error;
  } finally {
    end();
  }
  return { rendered, keepsContent: sender.keepsContent };
}

type Values = Readonly<Record<string, string>>;

/** A message that cannot be unsealed is a dead letter at once. */
function openValues(config: DeliveryDeps["config"], { template, sealed }: ClaimedMessage): Values {
  const values = sealed === null ? null : unseal(config, template, sealed);
  if (values === null)
    throw new Fault("delivery.unreadable", {
      text: "sealed with another secret",
      isPermanent: true,
    });
  return values;
}

const contentOf = ({ subject, text, html, code, links }: Rendered) => ({
  subject,
  text,
  html,
  code,
  links,
});
