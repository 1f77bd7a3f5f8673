import { setTimeout as wait } from "node:timers/promises";
import type { EntityManager } from "@mikro-orm/postgresql";
import { insertMessage } from "../../../../db/queries/delivery/messages.ts";
import { mail as mailQueue, type WithEnqueue } from "../../../../workers/queues.ts";
import type {
  WithClock,
  WithConfig,
  WithEm,
  WithFaults,
  WithLog,
  WithMetrics,
  WithOrigin,
  WithRequests,
} from "../../../platform/capabilities.ts";
import { withPlayer } from "../../../platform/origin.ts";
import { AppError } from "../../../platform/errors.ts";
import { recordDegraded } from "../../../platform/faults/degraded.ts";
import { Fault } from "../../../platform/faults/fault.ts";
import { deliverMessage, type DeliveryDeps } from "./deliver.ts";
import { credentialValues } from "./credentials.ts";
import { seal } from "./seal.ts";
import { templates, templatesOf, type NewMessage, type Template } from "./templates.ts";

/** Maximum queued messages; further ones are dropped, counted and logged. */
export const maxWaitingMessages = 20_000;
/** Maximum messages to one address in an hour, whoever requests them; notices are counted apart. */
export const maxMessagesPerHour = 30;
const hourMs = 3_600_000;

/** A message goes back to the origin of the dependencies with which it is written. */
export type WriteDeps = WithConfig &
  WithClock &
  WithMetrics &
  WithLog &
  WithFaults &
  WithOrigin &
  WithRequests;

/**
 * Outbox: writes a message in the transaction of `em`, so that it exists exactly when its change does. Returns its
 * id, for `postMessages` after the commit; null when a limit was reached. Then it is not sent, and the response must
 * not reveal that (S1).
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
      // A message that proves an address is for its account, also when nobody is signed in.
      origin: withPlayer(deps.origin, message.credential?.playerId ?? null),
      sealed: seal(deps.config, message.template, sealedValues(message)),
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
  if (id !== null) deps.requests.noteMessage(deps.origin);
  else
    deps.log.warn(
      { event: "message_dropped", template: message.template },
      "too many messages wait, one dropped",
    );
  return id;
}

const sealedValues = ({ params, credential }: NewMessage): Record<string, string> =>
  credential === undefined ? params : { ...params, ...credentialValues(credential) };

/** Pause between attempts: an outage is usually short, and a code expires within minutes. */
const retryMs = 1_000;
const maxRetries = 60;
/** Concurrent retries of a process; further messages are left to the clean-up. */
const maxRetrying = 500;
let numRetrying = 0;

type PostDeps = WithEnqueue & WithLog & WithFaults & WithOrigin;

/**
 * Queues written messages of a player, by default of the caller; call it after the commit. Never rejects: while Redis is down they stay in Postgres. It
 * retries for a minute, then the clean-up queues them.
 */
export async function postMessages(
  deps: PostDeps,
  ids: readonly (number | null)[],
  playerId: number | null = null,
): Promise<void> {
  const origin = withPlayer(deps.origin, playerId);
  const wanted = ids.filter((id) => id !== null);
  const post = (messageId: number) => deps.enqueue(mailQueue, { messageId, round: 0 }, origin);
  const work = wanted.map(post);
  for (const [at, result] of (await Promise.allSettled(work)).entries()) {
    if (result.status === "fulfilled") continue;
    deps.log.warn(
      { event: "message_not_queued", reason: String(result.reason) },
      "message not queued, retrying",
    );
    recordDegraded(deps, "message-queue", result.reason, origin);
    void postLater({ enqueue: deps.enqueue, origin }, wanted[at] ?? 0);
  }
}

/** Idempotent: adds the same job each time. */
async function postLater(
  { enqueue, origin }: WithEnqueue & WithOrigin,
  messageId: number,
): Promise<void> {
  if (numRetrying >= maxRetrying) return;
  numRetrying++;
  let isPosted = false;
  for (let tries = 0; tries < maxRetries && !isPosted; tries++) {
    await wait(retryMs, undefined, { ref: false });
    isPosted = await enqueue(mailQueue, { messageId, round: 0 }, origin).then(
      () => true,
      () => false,
    );
  }
  numRetrying--;
}

/** Writes and queues one message without another change. */
export async function sendMessage(
  deps: WriteDeps & WithEm & WithEnqueue,
  message: NewMessage,
): Promise<void> {
  const id = await writeMessage(deps.em, deps, message);
  await postMessages(deps, [id], message.credential?.playerId);
}

/**
 * Sends a message within the request, without the queue (USR-10: resend-verification). Throws `mail:delivery_failed`
 * or `sms:delivery_failed`; such a message is not retried.
 */
export async function sendNow(deps: DeliveryDeps & WriteDeps, message: NewMessage): Promise<void> {
  const { kind } = templates[message.template];
  const failed = (cause?: unknown) => new AppError(`${kind}:delivery_failed`, { cause });
  const id = await writeMessage(deps.em, deps, message);
  if (id === null) throw failed();
  try {
    await deliverMessage(deps, id, { ...once, limitMs: sendNowLimitMs });
  } catch (error) {
    throw error instanceof Fault ? failed(error) : error;
  }
}

/** The caller saves the credential of the message after it was sent. */
const once = { maxAttempts: 1, isCredentialSaved: false };
/** Below the request deadline of ten seconds. */
const sendNowLimitMs = 7_000;
