import { PlayerSchema } from "../../../db/entities/player.ts";
import {
  findOpenPlayer,
  isEmailKeyTaken,
  isNameTaken,
  type OpenPlayer,
} from "../../../db/queries/accounts/players.ts";
import { isAddressReserved } from "../../../db/queries/verification/replaced-addresses.ts";
import { isUsername, normalizeEmail } from "../../platform/text/account-names.ts";
import { AppError } from "../../platform/errors.ts";
import { randomId } from "../../platform/ids.ts";
import { userNameFields } from "../../platform/text/skeletons.ts";
import { postMessages } from "../delivery/domain/send.ts";
import type { WithClock, WithEm } from "../../platform/capabilities.ts";
import type { AccountDeps } from "./deps.ts";
import type { Caller } from "../../http/auth/auth.ts";
import { addressOrigin } from "../verification/device.ts";
import { refuseReserved } from "../verification/replaced-addresses.ts";
import { writeVerification } from "../verification/service.ts";
import { claiming } from "../sessions/conflicts.ts";
import { emailProblem } from "../sessions/guests.ts";
import {
  openSession,
  withCredentials,
  type ClientInfo,
  type Session,
} from "../sessions/sessions.ts";

export interface RegisterInput {
  email: string;
  username: string;
  password: string;
  displayName: string | null;
  locale: string;
  /** Device hash of the browser. */
  deviceHash?: string | null;
}

/** Creates an account and signs it in, in one transaction; unique constraints decide races (S9). */
export async function register(
  deps: AccountDeps,
  input: RegisterInput,
  client: ClientInfo,
): Promise<Session> {
  const emailKey = normalizeEmail(input.email);
  if (emailKey === null) throw new AppError("validation:failed", emailProblem);
  const passwordHash = await deps.passwords.hash(input.password);
  const now = new Date(deps.clock.now());
  const { username, locale, deviceHash = null } = input;
  const family = randomId();
  const [session, mailId, playerId] = await claiming(() =>
    deps.em.transactional(async (em) => {
      const player = em.create(PlayerSchema, {
        ...userNameFields(username),
        username,
        displayName: input.displayName?.trim() ?? username,
        isGuest: false,
        email: emailKey,
        emailKey,
        ...addressOrigin(client, { now, deviceHash }),
        passwordHash,
        passwordBy: family,
        locale,
        channels: ["email:account"],
        realm: client.realm,
        lastLoginAt: now,
        createdAt: now,
      });
      // The tokens carry the id, so the row must exist before the session.
      await em.flush();
      await refuseReserved(em, deps, player);
      const verification = await writeVerification(em, deps, player);
      const signIn = { ...withCredentials("registration", now.getTime()), id: family };
      return [openSession(em, deps, player, client, signIn), verification, player.id] as const;
    }),
  );
  await postMessages(deps, [mailId], playerId);
  return session;
}

interface Availability {
  email?: { available: boolean };
  username?: { available: boolean };
}

/** Checks the supplied fields only (USR-04). */
export async function checkAvailability(
  deps: WithEm & WithClock,
  { email, username }: { email: string | null; username: string | null },
): Promise<Availability> {
  if (email === null && username === null) throw new AppError("request:no_fields");
  const result: Availability = {};
  if (email !== null) {
    const key = normalizeEmail(email);
    result.email = { available: key !== null && (await isAddressFree(deps, key)) };
  }
  if (username !== null) {
    const isTaken = !isUsername(username) || (await isNameTaken(deps.em, userNameFields(username)));
    result.username = { available: !isTaken };
  }
  return result;
}

async function isAddressFree({ em, clock }: WithEm & WithClock, emailKey: string) {
  if (await isEmailKeyTaken(em, emailKey)) return false;
  return !(await isAddressReserved(em, emailKey, { now: new Date(clock.now()) }));
}

/** The caller's own account; a guest has none (TOK-10). */
export async function readOwnUser(deps: WithEm, caller: Caller): Promise<OpenPlayer> {
  if (caller.isGuest) throw new AppError("auth:not_registered");
  return readAccount(deps, caller);
}

export async function readAccount(deps: WithEm, caller: Caller): Promise<OpenPlayer> {
  const player = await findOpenPlayer(deps.em, caller.playerId);
  if (!player || player.isGuest) throw new AppError("user:not_found");
  return player;
}
