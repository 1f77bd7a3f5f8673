import { recordDegraded } from "../../platform/faults/degraded.ts";
import { insertRequest } from "../../../db/queries/sessions/credential-requests.ts";
import { findOpenPlayer, recordLogin } from "../../../db/queries/accounts/players.ts";
import { lockAccountId } from "../../../db/queries/verification/replaced-addresses.ts";
import { tryCode } from "../../../db/queries/sessions/sign-in-codes.ts";
import { credentialRequests, type WithEnqueue } from "../../../workers/queues.ts";
import { normalizeEmail } from "../../platform/text/account-names.ts";
import { AppError } from "../../platform/errors.ts";
import { codeHashes, maxCodeTries, readCode } from "../../platform/security/one-time-codes.ts";
import type {
  WithClock,
  WithEm,
  WithFaults,
  WithLog,
  WithOrigin,
} from "../../platform/capabilities.ts";
import type { SessionDeps } from "./deps.ts";
import { announceProof, proveAddress } from "../verification/proof.ts";
import { clearLocks } from "./domain/lockout.ts";
import {
  openSession,
  withCredentials,
  type HeldSession,
  type ClientInfo,
  type Session,
} from "./sessions.ts";

/** Maximum queued requests; further ones are dropped and logged. */
export const maxWaitingRequests = 20_000;

export interface CredentialRequest {
  purpose: "code" | "reset";
  email: string;
  channel: "email" | "sms";
  realm: string;
}

/**
 * Stores a request for a code or a link. Nothing here depends on whether the address has an account: the job looks it
 * up, so neither the response nor its time reveals it (S1).
 */
export async function requestCredential(
  deps: WithEm & WithClock & WithEnqueue & WithLog & WithFaults & WithOrigin,
  { email, ...request }: CredentialRequest,
): Promise<void> {
  const emailKey = normalizeEmail(email);
  if (emailKey === null) return;
  const now = new Date(deps.clock.now());
  const bound = { now, maxWaiting: maxWaitingRequests };
  const requestId = await insertRequest(deps.em, { ...request, emailKey }, bound);
  if (requestId === null)
    return deps.log.warn(
      { event: "code_request_dropped" },
      "too many requests for codes wait, one dropped",
    );
  // While Redis is down the row waits; the clean-up queues it.
  const job = { requestId, round: 0 };
  await deps.enqueue(credentialRequests, job, deps.origin).catch((error: unknown) => {
    deps.log.warn(
      { event: "code_request_not_queued", reason: String(error) },
      "request for a code not queued, the clean-up queues it",
    );
    recordDegraded(deps, "code-request-queue", error, deps.origin);
  });
}

/**
 * Signs in with a code; an unknown address takes the same look-up and the same attempt (GW-04, GW-05). An invalid
 * code is refused before both: it counts no attempt and takes equal time for every address.
 */
export async function signInWithCode(
  deps: SessionDeps,
  input: { email: string; code: string },
  client: ClientInfo,
  held: HeldSession | null = null,
): Promise<Session> {
  const code = readCode(input.code);
  if (code === null) throw new AppError("auth:code_invalid");
  const emailKey = normalizeEmail(input.email) ?? "";
  const now = new Date(deps.clock.now());
  // A refusal must not roll back the counted attempt.
  const opened = await deps.em.transactional(async (em) => {
    const playerId = await lockAccountId(em, emailKey);
    const hashes = codeHashes(deps.config, `sign-in:${playerId}`, code);
    const channel = await tryCode(em, { playerId, emailKey, hashes, now, maxTries: maxCodeTries });
    if (channel === null) return null;
    const isByMail = channel === "email";
    const proven = isByMail ? await proveAddress(em, deps, { playerId, now, held }) : null;
    if (!(await recordLogin(em, playerId, { now }))) return null;
    const account = await findOpenPlayer(em, playerId);
    if (!account) return null;
    const signIn = withCredentials("code", now.getTime());
    return { account, session: openSession(em, deps, account, client, signIn), proven };
  });
  if (!opened) throw new AppError("auth:code_invalid");
  const { account, session, proven } = opened;
  await announceProof(deps, proven);
  await clearLocks(deps, account);
  return session;
}
