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
import type { WithEm } from "../../platform/capabilities.ts";
import type { AccountDeps } from "./deps.ts";
import type { Caller } from "../../http/auth/auth.ts";
import { claiming } from "../sessions/conflicts.ts";
import { requireOpenSession } from "../sessions/sessions.ts";

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
    if (!isDone) return false;
    await requireOpenSession({ em, clock: deps.clock }, caller);
    await dropTextedCode(em, playerId);
    return true;
  };
  const taken = { players_verified_phone_unique: "phone:code_invalid" } as const;
  const isVerified = await claiming(() => deps.em.transactional(verify), taken);
  if (!isVerified) throw new AppError("phone:code_invalid");
  return { phone, verifiedAt: now };
}

export async function clearPhone(deps: WithEm, caller: Caller): Promise<void> {
  await deps.em.transactional(async (em) => {
    if (!(await removePhone(em, caller.playerId))) throw new AppError("user:not_found");
    await spendCodes(em, caller.playerId);
    await dropTextedCode(em, caller.playerId);
  });
}
