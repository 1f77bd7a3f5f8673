import type { EntityManager } from "@mikro-orm/postgresql";
import type { Redis } from "ioredis";
import { TokenFamilySchema } from "../../../../db/entities/token-family.ts";
import { lockAccount } from "../../../../db/queries/accounts/accounts.ts";
import { findOpenPlayer, type OpenPlayer } from "../../../../db/queries/accounts/players.ts";
import {
  findOpenSignIn,
  isFamilyOpen,
  noteFamilyUse,
  revokeFamily,
  type OpenSignIn,
} from "../../../../db/queries/sessions/token-families.ts";
import type { Clock } from "../../../platform/time/clock.ts";
import { AppError } from "../../../platform/errors.ts";
import { randomId } from "../../../platform/ids.ts";
import { grantSeconds } from "./constants.ts";

export interface GrantStores {
  fork: () => EntityManager;
  redis: Redis;
  clock: Clock;
}

/** The player who consents, and the session. */
export interface Allower {
  playerId: number;
  family: string;
}

/** Time of the last authentication. Throws `auth:token_invalid` when that session has ended. */
export async function findSignIn(
  { fork, clock }: GrantStores,
  { playerId, family: id }: Allower,
): Promise<OpenSignIn> {
  const now = new Date(clock.now());
  const open = await findOpenSignIn(fork(), { id, playerId, now });
  if (open === null) throw new AppError("auth:token_invalid");
  return open;
}

const familyKey = (grantId: string) => `oauth:family:${grantId}`;

/**
 * Opens a session for a grant. The player's list of sessions shows it under the program's name. Everything that ends
 * sessions (log out everywhere, a new password, a closed account, an operator) ends every token of the grant at once
 * (S7, TOK-08). Throws `auth:token_invalid` when the session of the consent has ended.
 */
export async function openGrantSession(
  { fork, redis, clock }: GrantStores,
  { playerId, family }: Allower,
  grant: { id: string; realm: string; clientName: string; scopes: readonly string[] },
): Promise<void> {
  const now = new Date(clock.now());
  const id = randomId();
  const seconds = grantSeconds(grant.scopes);
  await fork().transactional(async (em) => {
    // Serialized with every end of the player's sessions.
    const player = await lockAccount(em, playerId);
    if (player === null || !(await isFamilyOpen(em, { id: family, playerId, now })))
      throw new AppError("auth:token_invalid");
    await em.insert(TokenFamilySchema, {
      id,
      player: playerId,
      isGuest: false,
      realm: grant.realm,
      createdAt: now,
      lastUsedAt: now,
      endsAt: new Date(now.getTime() + seconds * 1_000),
      userAgent: grant.clientName,
      method: "consent",
      parent: family,
    });
  });
  await redis.set(familyKey(grant.id), id, "EX", seconds);
}

/** Ends the session of a grant, if it is still open. */
export async function endGrantSession(
  { fork, redis, clock }: GrantStores,
  grantId: string,
): Promise<void> {
  const family = await redis.getdel(familyKey(grantId));
  if (family !== null) await revokeFamily(fork(), family, new Date(clock.now()));
}

/**
 * The open registered account of a subject, or null. With a grant its session must be open too, so that nothing the
 * player has ended can be used.
 */
export async function findGrantAccount(
  { fork, redis, clock }: GrantStores,
  subject: string,
  { grantId, isRefresh }: { grantId: string | undefined; isRefresh: boolean },
): Promise<OpenPlayer | null> {
  const playerId = Number(subject);
  if (!Number.isSafeInteger(playerId)) return null;
  const em = fork();
  const player = await findOpenPlayer(em, playerId);
  if (player === null || player.isGuest) return null;
  if (grantId === undefined) return player;
  const id = await redis.get(familyKey(grantId));
  const now = new Date(clock.now());
  if (id === null || !(await isFamilyOpen(em, { id, playerId, now }))) return null;
  // The list of sessions omits sessions unused for the lifetime of a refresh token.
  if (isRefresh) await noteFamilyUse(em, id, now);
  return player;
}
