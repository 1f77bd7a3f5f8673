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
  WithLog,
  WithMetrics,
} from "../../../platform/capabilities.ts";
import { DeliveryError, sendLimitMs, type Senders } from "../providers/messages.ts";
import { readBrand } from "./brand.ts";
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

export interface DeliveryDeps extends WithEm, WithConfig, WithClock, WithMetrics, WithLog {
  senders: Senders;
}

export interface DeliveryOptions {
  maxAttempts: number;
  limitMs: number;
}

/**
 * One attempt at one message. A call for a finished message does nothing; of concurrent calls one sends. Rejects with
 * `DeliveryError` on a failure, after storing it.
 */
export async function deliverMessage(
  deps: DeliveryDeps,
  id: number,
  options: DeliveryOptions = { maxAttempts, limitMs: sendLimitMs },
): Promise<void> {
  const { em, clock } = deps;
  const now = clock.now();
  const lease = { now: new Date(now), leaseStart: new Date(now - leaseMs) };
  const message = await claimMessage(em, id, lease);
  if (message === null) {
    if ((await findMessageStatus(em, id)) === "sending")
      throw new DeliveryError("another process is sending it", false);
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
    const { rendered, keepsContent } = await hand(deps, message, options.limitMs);
    await settle("sent", { content: keepsContent ? contentOf(rendered) : null });
  } catch (error) {
    if (!(error instanceof DeliveryError)) throw error;
    const isLast = error.isPermanent || message.attempts >= options.maxAttempts;
    await settle(isLast ? "failed" : "queued", { error: error.message.slice(0, 255) });
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

async function hand(deps: DeliveryDeps, message: ClaimedMessage, limitMs: number) {
  const { senders, metrics } = deps;
  const rendered = await renderMessage(deps, message);
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
    throw error instanceof DeadlineError ? new DeliveryError("no end in time", false) : error;
  } finally {
    end();
  }
  return { rendered, keepsContent: sender.keepsContent };
}

/** A message that cannot be unsealed is a dead letter at once. */
async function renderMessage(
  { em, config }: Pick<DeliveryDeps, "em" | "config">,
  message: ClaimedMessage,
): Promise<Rendered> {
  const template = findTemplate(message.template);
  const params = message.sealed === null ? null : unseal(config, message.template, message.sealed);
  if (template === null) throw new DeliveryError("unknown template", true);
  if (params === null) throw new DeliveryError("sealed with another secret", true);
  return render(template, message.locale, params, await readBrand(em, config, message.realm));
}

const contentOf = ({ subject, text, html, code, links }: Rendered) => ({
  subject,
  text,
  html,
  code,
  links,
});
