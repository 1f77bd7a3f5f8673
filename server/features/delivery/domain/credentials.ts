import type { EntityManager } from "@mikro-orm/postgresql";
import { isPhoneCodeOpen } from "../../../../db/queries/accounts/phone-codes.ts";
import { isResetOpen } from "../../../../db/queries/sessions/password-resets.ts";
import { isSignInCodeOpen } from "../../../../db/queries/sessions/sign-in-codes.ts";
import { isListTokenOpen } from "../../../../db/queries/system/subscribers.ts";
import { isVerificationOpen } from "../../../../db/queries/verification/email-verifications.ts";
import { maxCodeTries } from "../../../platform/security/one-time-codes.ts";
import type { Credential, TemplateName } from "./templates.ts";

interface Given {
  hash: string;
  playerId: number;
  recipient: string;
  now: Date;
}

type Check = (em: EntityManager, given: Given) => Promise<boolean>;

const isSignInOpen: Check = (em, { playerId, hash: codeHash, now }) =>
  isSignInCodeOpen(em, { playerId, codeHash, now, maxTries: maxCodeTries });

const checks: Partial<Record<TemplateName, Check>> = {
  "sign-in-code": isSignInOpen,
  "sign-in-code-sms": isSignInOpen,
  "phone-code": (em, { playerId, hash: codeHash, now }) =>
    isPhoneCodeOpen(em, { playerId, codeHash, now }),
  "reset-password": (em, { playerId, hash: tokenHash, now }) =>
    isResetOpen(em, { playerId, tokenHash }, now),
  "verify-email": (em, { playerId, hash: tokenHash, recipient: emailKey, now }) =>
    isVerificationOpen(em, { playerId, tokenHash, emailKey }, now),
  "subscribe-verify": (em, { hash: verifyHash, recipient: emailKey, now }) =>
    isListTokenOpen(em, { emailKey, verifyHash }, now),
};

/** Its names in the sealed values of a message; no template has such parameters. */
export const credentialValues = ({ hash, playerId = 0 }: Credential): Record<string, string> => ({
  "credential-hash": hash,
  "credential-owner": String(playerId),
});

/** Whether the code or link of a message would be accepted now: a newer one, or a use, voids it (USR-10). */
export async function isAccepted(
  em: EntityManager,
  { template, recipient }: { template: string; recipient: string },
  values: Readonly<Record<string, string>>,
  now: Date,
): Promise<boolean> {
  const { "credential-hash": hash, "credential-owner": owner } = values;
  const check = Object.hasOwn(checks, template) ? checks[template as TemplateName] : undefined;
  // Notices have no credential, and neither has a message of an earlier release.
  if (check === undefined || hash === undefined) return true;
  return check(em, { hash, playerId: Number(owner), recipient, now });
}
