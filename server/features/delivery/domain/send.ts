import { setTimeout as wait } from "node:timers/promises";
import type { EntityManager } from "@mikro-orm/postgresql";
import { insertMessage } from "../../../../db/queries/delivery/messages.ts";
import { mail as mailQueue, type WithEnqueue } from "../../../../workers/queues.ts";
import type {
  WithClock,
  WithConfig,
  WithEm,
  WithLog,
  WithMetrics,
} from "../../../platform/capabilities.ts";
import { AppError } from "../../../platform/errors.ts";
import { DeliveryError } from "../providers/messages.ts";
import { deliverMessage, type DeliveryDeps } from "./deliver.ts";
import { seal } from "./seal.ts";
import { templates, templatesOf, type NewMessage, type Template } from "./templates.ts";

/** Messages that may wait altogether; what comes on top is dropped, counted and logged. */
export const maxWaitingMessages = 20_000;
/** Messages one address may get in an hour, whoever asks for them; notices are counted apart. */
export const maxMessagesPerHour = 30;
const hourMs = 3_600_000;

export type WriteDeps = WithConfig & WithClock & WithMetrics & WithLog;

/**
 * Writes a message in the transaction of `em`, so that it exists exactly when what it tells of does.
 * Returns its id, for `postMessages` after the commit; null when a bound was reached: then it is
 * not sent, and the caller's answer must not tell (S1).
 */
export async function writeMessage(
  em: EntityManager,
  deps: WriteDeps,
  message: NewMessage,
): Promise<number | null> {
  const template: Template = templates[message.template];
  const now = deps.clock.now();
  const { RATE_LIMIT_FACTOR: factor } = deps.config;
  const isCounted = factor > 0 && template.isInternal !== true;
  const id = await insertMessage(
    em,
    {
      kind: template.kind,
      template: message.template,
      locale: message.locale,
      realm: message.realm ?? null,
      recipient: message.to,
      sealed: seal(deps.config, message.template, message.params),
      now: new Date(now),
      expiresAt: new Date(now + template.lifeSeconds * 1_000),
    },
    {
      maxWaiting: maxWaitingMessages,
      templates: templatesOf(template.isNotice === true),
      maxRecent: isCounted ? Math.max(1, Math.ceil(maxMessagesPerHour * factor)) : null,
      since: new Date(now - hourMs),
    },
  );
  deps.metrics.messages.inc({ kind: template.kind, outcome: id === null ? "dropped" : "written" });
  if (id === null)
    deps.log.warn(
      { event: "message_dropped", template: message.template },
      "too many messages wait, one dropped",
    );
  return id;
}

/** A store that went is back soon, and a code is of no use after minutes. */
const againMs = 1_000;
const maxAgain = 60;
/** Messages tried again at the same time; what is more is left to the clean-up. */
const maxTried = 500;
let numTried = 0;

/**
 * Hands written messages to the queue; call it after the commit. Never rejects: while Redis is
 * away they stay in Postgres, it is tried again for a minute, and then the clean-up queues them.
 */
export async function postMessages(
  deps: WithEnqueue & WithLog,
  ids: readonly (number | null)[],
): Promise<void> {
  const wanted = ids.filter((id) => id !== null);
  const work = wanted.map((messageId) => deps.enqueue(mailQueue, { messageId, round: 0 }));
  for (const [at, result] of (await Promise.allSettled(work)).entries()) {
    if (result.status === "fulfilled") continue;
    deps.log.warn(
      { event: "message_not_queued", reason: String(result.reason) },
      "message not queued, retrying",
    );
    void postLater(deps, wanted[at] ?? 0);
  }
}

/** The same job however often it is added. */
async function postLater({ enqueue }: WithEnqueue, messageId: number): Promise<void> {
  if (numTried >= maxTried) return;
  numTried++;
  let isPosted = false;
  for (let tries = 0; tries < maxAgain && !isPosted; tries++) {
    await wait(againMs, undefined, { ref: false });
    isPosted = await enqueue(mailQueue, { messageId, round: 0 }).then(
      () => true,
      () => false,
    );
  }
  numTried--;
}

/** Writes and posts one message that belongs to no other change. */
export async function sendMessage(
  deps: WriteDeps & WithEm & WithEnqueue,
  message: NewMessage,
): Promise<void> {
  await postMessages(deps, [await writeMessage(deps.em, deps, message)]);
}

/**
 * Sends a message before it returns, past the queue (USR-10: resend-verification). Refused with
 * `mail:delivery_failed` or `sms:delivery_failed`; then nothing tries it again.
 */
export async function sendNow(deps: DeliveryDeps, message: NewMessage): Promise<void> {
  const { kind } = templates[message.template];
  const failed = (cause?: unknown) => new AppError(`${kind}:delivery_failed`, { cause });
  const id = await writeMessage(deps.em, deps, message);
  if (id === null) throw failed();
  try {
    await deliverMessage(deps, id, { maxAttempts: 1, limitMs: sendNowLimitMs });
  } catch (error) {
    throw error instanceof DeliveryError ? failed(error) : error;
  }
}

/** A request has to be answered within ten seconds. */
const sendNowLimitMs = 7_000;
