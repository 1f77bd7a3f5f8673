import type { EntityManager } from "@mikro-orm/postgresql";
import {
  dropTextedCode,
  listCodeEnds,
  removePhone,
  saveCode,
  spendCodes,
  tryCode,
  verifyPhone,
} from "../../../db/queries/accounts/phone-codes.ts";
import { lockAccount } from "../../../db/queries/accounts/accounts.ts";
import { AppError } from "../../platform/errors.ts";
import {
  codeHash,
  codeHashes,
  maxCodeTries,
  newCode,
  readCode,
} from "../../platform/security/one-time-codes.ts";
import { postMessages, writeMessage } from "../delivery/domain/send.ts";
import type { AccountDeps } from "./deps.ts";
import type { Caller } from "../../http/auth/auth.ts";
import { claiming } from "../sessions/conflicts.ts";
import { requireRecentSignIn } from "../sessions/recent-sign-in.ts";
import { requireOpenSession } from "../sessions/sessions.ts";
import { writeAddition, writeRemoval, type NoticeTo } from "../verification/notices.ts";

const codeMs = 5 * 60_000;
/** Maximum unexpired codes of an account, used ones included (USR-08). */
const maxCodes = 3;

const purposeOf = (playerId: number) => `phone:${playerId}`;

/** Sends a code to a number; the verified number, if any, stays until the new one is verified. */
export async function requestPhoneCode(
  deps: AccountDeps,
  caller: Caller,
  phone: string,
): Promise<void> {
  const { playerId } = caller;
  const code = newCode();
  const hash = codeHash(deps.config, purposeOf(playerId), code);
  const messageId = await deps.em.transactional(async (em) => {
    const account = await lockAccount(em, playerId);
    if (!account) throw new AppError("user:not_found");
    // Asked now, not again with the code: a verified number receives sign-in codes (USR-12).
    await requireRecentSignIn({ em, clock: deps.clock }, caller);
    // Read under the lock, so that no saved code is later than now.
    const now = deps.clock.now();
    const expiresAt = new Date(now + codeMs);
    const ends = await listCodeEnds(em, playerId, { now: new Date(now), latest: expiresAt });
    const [first] = ends;
    if (first !== undefined && ends.length >= maxCodes)
      throw new AppError("phone:too_many_codes", {
        params: { retry_after: Math.max(1, Math.ceil((first - now) / 1_000)) },
      });
    const { locale, realm } = account;
    const id = await writeMessage(em, deps, {
      template: "phone-code",
      to: phone,
      locale,
      realm,
      params: { code },
      credential: { playerId, hash },
    });
    // A message that is not sent must not void the earlier one.
    if (id === null) return null;
    await saveCode(em, { playerId, phone, codeHash: hash, expiresAt });
    return id;
  });
  await postMessages(deps, [messageId]);
}

const changed: NoticeTo = (to) => ({ template: "phone-changed", ...to, params: {} });
const removed: NoticeTo = (to) => ({ template: "phone-removed", ...to, params: {} });

export interface VerifiedPhone {
  phone: string;
  verifiedAt: number;
}

/** Uses the newest code. A number that another account has verified is refused like a wrong code (USR-08). */
export async function verifyPhoneCode(
  deps: AccountDeps,
  caller: Caller,
  text: string,
): Promise<VerifiedPhone> {
  const { playerId } = caller;
  const now = deps.clock.now();
  const at = new Date(now);
  const code = readCode(text);
  if (code === null) throw new AppError("phone:code_invalid");
  const hashes = codeHashes(deps.config, purposeOf(playerId), code);
  // Not one transaction: an attempt counts even when the next step fails.
  const phone = await tryCode(deps.em, { playerId, hashes, now: at, maxTries: maxCodeTries });
  if (phone === null) throw new AppError("phone:code_invalid");
  const verify = async (em: EntityManager) => {
    const isDone = await verifyPhone(em, { playerId, phone, now: at, by: caller.family });
    if (!isDone) return null;
    await requireOpenSession({ em, clock: deps.clock }, caller);
    await dropTextedCode(em, playerId);
    return [await writeAddition(em, deps, playerId, changed)];
  };
  const taken = { players_verified_phone_unique: "phone:code_invalid" } as const;
  const mails = await claiming(() => deps.em.transactional(verify), taken);
  if (mails === null) throw new AppError("phone:code_invalid");
  await postMessages(deps, mails);
  return { phone, verifiedAt: now };
}

export async function clearPhone(deps: AccountDeps, { playerId }: Caller): Promise<void> {
  const mail = await deps.em.transactional(async (em) => {
    const account = await lockAccount(em, playerId);
    if (!account) throw new AppError("user:not_found");
    await removePhone(em, playerId);
    await spendCodes(em, playerId);
    await dropTextedCode(em, playerId);
    return account.phoneVerifiedAt ? writeRemoval(em, deps, playerId, removed) : null;
  });
  await postMessages(deps, [mail]);
}
