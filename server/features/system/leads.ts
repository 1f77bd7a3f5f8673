import { insertContactMessage, insertFeedback } from "../../../db/queries/system/leads.ts";
import type { Feedback } from "../../../db/entities/feedback.ts";
import { normalizeEmail } from "../../platform/text/account-names.ts";
import type { Config } from "../../platform/config/config.ts";
import { AppError } from "../../platform/errors.ts";
import { postMessages, writeMessage } from "../delivery/domain/send.ts";
import type { WithClock, WithEm } from "../../platform/capabilities.ts";
import type { SystemDeps } from "./deps.ts";
import type { Caller } from "../../http/auth/auth.ts";

export interface Contact {
  fullname: string;
  email: string;
  discovery: string;
  subject: string;
  message: string;
}

/**
 * Stores a contact message and forwards it to the operator inbox, both or neither. A repeated `ref` is not stored
 * again (HTTP-15).
 */
export async function receiveContact(
  deps: SystemDeps,
  input: Contact,
  ref: string | null,
): Promise<void> {
  const contact = {
    fullname: input.fullname.trim(),
    email: normalizeEmail(input.email) ?? input.email.trim(),
    discovery: input.discovery.trim(),
    subject: input.subject.trim(),
    message: input.message.trim(),
  };
  const to = operatorInbox(deps.config);
  const id = await deps.em.transactional(async (em) => {
    const createdAt = new Date(deps.clock.now());
    const isNew = await insertContactMessage(em, { ...contact, createdAt, ref });
    if (!isNew || to === null) return null;
    return writeMessage(em, deps, { template: "contact", to, locale: "en", params: contact });
  });
  await postMessages(deps, [id]);
}

function operatorInbox({ OPERATOR_INBOX, APP_ENV }: Config): string | null {
  if (OPERATOR_INBOX !== "") return normalizeEmail(OPERATOR_INBOX) ?? OPERATOR_INBOX;
  return APP_ENV === "production" ? null : "operator@localhost";
}

export interface FeedbackInput {
  kind: Feedback["kind"];
  source: string;
  message: string;
  email: string | null;
  route: string | null;
  context: Record<string, unknown> | null;
  /** Idempotency reference: a repeat is not stored again (HTTP-15); null = none. */
  ref: string | null;
}

/** SYS-05 */
const maxContextBytes = 16_384;

/** Stores feedback with its sender; a guest is a player and no user (SYS-05). */
export async function receiveFeedback(
  deps: WithEm & WithClock,
  caller: Caller | null,
  input: FeedbackInput,
): Promise<void> {
  if (input.context !== null && sizeOf(input.context) > maxContextBytes)
    throw new AppError("validation:failed", {
      violations: [{ propertyPath: "context", title: "must be at most 16 KiB as JSON" }],
    });
  await insertFeedback(deps.em, {
    ...input,
    source: input.source.trim(),
    message: input.message.trim(),
    email: input.email === null ? null : normalizeEmail(input.email),
    route: input.route?.trim() ?? null,
    userId: caller === null || caller.isGuest ? null : caller.playerId,
    playerId: caller?.playerId ?? null,
    createdAt: new Date(deps.clock.now()),
  });
}

const sizeOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));
