import { recordDegraded } from "../../platform/faults/degraded.ts";
import { randomInt } from "node:crypto";
import type { EntityManager } from "@mikro-orm/postgresql";
import { PlayerSchema } from "../../../db/entities/player.ts";
import {
  advanceReclaim,
  findOpenPlayer,
  loadOpenPlayer,
  upgradeGuest,
} from "../../../db/queries/accounts/players.ts";
import { revokeFamiliesOf } from "../../../db/queries/sessions/token-families.ts";
import { publishAccountEvent } from "../accounts/domain/account-events.ts";
import { normalizeEmail } from "../../platform/text/account-names.ts";
import { AppError } from "../../platform/errors.ts";
import { randomId, randomString } from "../../platform/ids.ts";
import { userNameFields } from "../../platform/text/skeletons.ts";
import { postMessages } from "../delivery/domain/send.ts";
import type { SessionDeps } from "./deps.ts";
import type { Caller } from "../../http/auth/auth.ts";
import { addressOrigin } from "../verification/device.ts";
import { refuseReserved } from "../verification/replaced-addresses.ts";
import { writeVerification } from "../verification/service.ts";
import { claiming } from "./conflicts.ts";
import {
  openSession,
  requireOpenSession,
  withoutCredentials,
  type ClientInfo,
  type Session,
} from "./sessions.ts";

/** GW-06 */
const nameTries = 10;
const nameAlphabet = "abcdefghijklmnopqrstuvwxyz0123456789";
const randomGuestName = () => `Guest_${randomString(8, nameAlphabet)}`;

const guestCodes = {
  players_name_key_unique: "guest:username_taken",
  players_name_skeleton_unique: "guest:username_taken",
} as const;

/**
 * Reclaim generations start at a random number: a database restored from a backup issues ids again, and the token of
 * a lost guest must not match the new one. Half of the column's range is left to count up.
 */
const firstGenerations = 2 ** 30;

/** A new guest, or the guest of a reclaim token (document 1, Gateway; TOK-12). */
export async function enterAsGuest(
  deps: SessionDeps,
  input: { username: string | null; reclaimToken: string | null },
  client: ClientInfo,
  newName: () => string = randomGuestName,
): Promise<Session> {
  if (input.reclaimToken !== null) return reclaimGuest(deps, input.reclaimToken, client);
  if (input.username !== null) return createGuest(deps, input.username, client);
  for (let attempt = 0; attempt < nameTries; attempt++) {
    try {
      return await createGuest(deps, newName(), client);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "guest:username_taken") throw error;
    }
  }
  throw new AppError("guest:username_unavailable");
}

function createGuest(deps: SessionDeps, name: string, client: ClientInfo): Promise<Session> {
  const now = new Date(deps.clock.now());
  const generation = randomInt(firstGenerations);
  return claiming(
    () =>
      deps.em.transactional(async (em) => {
        const player = em.create(PlayerSchema, {
          ...userNameFields(name),
          isGuest: true,
          reclaimGeneration: generation,
          reclaimVoidBelow: generation,
          channels: [],
          realm: client.realm,
          createdAt: now,
        });
        // The tokens carry the id, so the row must exist before the session.
        await em.flush();
        return openSession(em, deps, player, client, withoutCredentials("guest"));
      }),
    guestCodes,
  );
}

/** A refused token never creates a new guest: the client would silently lose its player. */
async function reclaimGuest(
  deps: SessionDeps,
  token: string,
  client: ClientInfo,
): Promise<Session> {
  const claims = deps.tokens.verify("reclaim", token);
  if (!claims) throw new AppError("auth:token_invalid");
  const playerId = Number(claims.sub);
  const generation = claims.gen ?? 0;
  return deps.em.transactional(async (em) => {
    const isOpen = await advanceReclaim(em, { playerId, generation });
    const player = isOpen ? await findOpenPlayer(em, playerId) : null;
    if (!player) throw new AppError("auth:token_invalid");
    return openSession(em, deps, player, client, withoutCredentials("reclaim"));
  });
}

export interface UpgradeInput {
  email: string;
  password: string;
  displayName: string | null;
  locale: string;
  /** Device hash of the browser. */
  deviceHash?: string | null;
}

/**
 * Upgrades the guest to an account with the same id; its older credentials are revoked in the same transaction (S8,
 * GW-07).
 */
export async function upgrade(
  deps: SessionDeps,
  caller: Caller,
  input: UpgradeInput,
  client: ClientInfo,
): Promise<Session> {
  const emailKey = normalizeEmail(input.email);
  if (emailKey === null) throw new AppError("validation:failed", emailProblem);
  const passwordHash = await deps.passwords.hash(input.password);
  const now = new Date(deps.clock.now());
  const account = {
    emailKey,
    passwordHash,
    displayName: input.displayName?.trim() ?? null,
    locale: input.locale,
    now,
  };
  const family = randomId();
  const [session, mailId] = await claiming(() =>
    deps.em.transactional(async (em) => {
      if (!(await upgradeGuest(em, caller.playerId, account)))
        throw await notUpgradable(em, caller);
      // The row is locked, which serializes this with every end of its sessions.
      await requireOpenSession({ em, clock: deps.clock }, caller);
      await revokeFamiliesOf(em, caller.playerId, now);
      const player = await loadOpenPlayer(em, caller.playerId);
      if (!player) throw new AppError("auth:token_invalid");
      await refuseReserved(em, deps, player);
      const verification = await writeVerification(em, deps, player);
      // The password was chosen, not verified.
      const signIn = { ...withoutCredentials("upgrade"), id: family };
      const { deviceHash = null } = input;
      Object.assign(player, addressOrigin(client, { now, deviceHash }), { passwordBy: family });
      return [openSession(em, deps, player, client, signIn), verification] as const;
    }),
  );
  // Processes that miss the event read the change when they resubscribe.
  const event = { type: "upgraded", playerId: caller.playerId } as const;
  await publishAccountEvent(deps.redis, event).catch((error: unknown) => {
    deps.log.warn(
      { event: "account_event_failed", player: caller.playerId, reason: String(error) },
      "guest upgrade not published, processes read it from Postgres",
    );
    recordDegraded(deps, "account-events", error, deps.origin);
  });
  await postMessages(deps, [mailId]);
  return session;
}

/** A guest token may outlive a guest who was upgraded or closed. */
async function notUpgradable(em: EntityManager, caller: Caller): Promise<AppError> {
  const player = await findOpenPlayer(em, caller.playerId);
  return new AppError(player ? "auth:forbidden" : "auth:token_invalid");
}

/** Schemas refuse such an address already; this narrows the type. */
export const emailProblem = {
  violations: [{ propertyPath: "email", title: "must be an email address" }],
};
