import type { EntityManager } from "@mikro-orm/postgresql";
import { findMailTarget } from "../../../db/queries/verification/replaced-addresses.ts";
import { unavailable } from "../../http/pipeline/failures.ts";
import { writeMessage, type WriteDeps } from "../delivery/domain/send.ts";
import type { NewMessage } from "../delivery/domain/templates.ts";

type Target = Pick<NewMessage, "to" | "locale" | "realm">;

export type NoticeTo = (target: Target) => NewMessage;

/** To an address that no longer belongs to the account. */
export const changedNotice = (target: Target): NewMessage => ({
  template: "email-changed",
  ...target,
  params: {},
});

/**
 * Writes the notice of an added way to sign in to the account's verified address, in the transaction of the change;
 * null without such an address (USR-14). The change fails without it.
 */
export async function writeAddition(
  em: EntityManager,
  deps: WriteDeps,
  playerId: number,
  noticeTo: NoticeTo,
): Promise<number | null> {
  const notice = await noticeOf(em, playerId, noticeTo);
  return notice && writeRequired(em, deps, notice);
}

/** The same of a removed one, which no lack of mail may keep. */
export async function writeRemoval(
  em: EntityManager,
  deps: WriteDeps,
  playerId: number,
  noticeTo: NoticeTo,
): Promise<number | null> {
  const notice = await noticeOf(em, playerId, noticeTo);
  return notice && writeMessage(em, deps, notice);
}

async function noticeOf(
  em: EntityManager,
  playerId: number,
  noticeTo: NoticeTo,
): Promise<NewMessage | null> {
  const target = await findMailTarget(em, playerId);
  if (!target?.isVerified) return null;
  const { to, locale, realm } = target;
  return noticeTo({ to, locale, realm });
}

/** Tells the owner that the password was changed or reset; also at an unverified address. */
export async function writePasswordNotice(
  em: EntityManager,
  deps: WriteDeps,
  playerId: number,
): Promise<number | null> {
  const target = await findMailTarget(em, playerId);
  if (target === null) return null;
  const { to, locale, realm } = target;
  return writeMessage(em, deps, { template: "password-changed", to, locale, realm, params: {} });
}

/** Writes a message or undoes its change: other messages up to the limit must not suppress the notice of a change. */
export async function writeRequired(
  em: EntityManager,
  deps: WriteDeps,
  message: NewMessage,
): Promise<number> {
  const id = await writeMessage(em, deps, message);
  if (id === null) throw unavailable(new Error(`${message.template} not written`));
  return id;
}
