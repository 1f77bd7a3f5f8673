import { LockMode, type EntityManager } from "@mikro-orm/postgresql";
import type { CachedApiKey } from "../../../server/platform/security/api-keys.ts";
import { ApiKeySchema, type ApiKey } from "../../entities/api-key.ts";
import { inShare } from "../../shared-entity-manager.ts";
import { nullableMillis } from "../expressions.ts";
import { changeRows, findRow } from "../rows.ts";

/** The key with this prefix; null if its owner's account or its realm is closed. */
export function findKnownKey(em: EntityManager, prefix: string): Promise<CachedApiKey | null> {
  return findRow(em, (db) =>
    db
      .selectFrom("api_keys as k")
      .innerJoin("players as p", "p.id", "k.owner_id")
      .innerJoin("realms as r", "r.id", "k.realm_id")
      .select([
        "k.id",
        "k.prefix",
        "k.secret_hash as secretHash",
        "k.owner_id as ownerId",
        "p.name as ownerName",
        "r.slug as realm",
        "k.scopes",
        "k.origins",
        "k.is_active as isActive",
        nullableMillis("k.expires_at").as("expiresAt"),
        nullableMillis("k.revoked_at").as("revokedAt"),
        nullableMillis("k.last_used_at").as("lastUsedAt"),
      ])
      .where("k.prefix", "=", prefix)
      .where("p.deleted_at", "is", null)
      .where("r.is_active", "=", true),
  );
}

/** Records a use unless one has been recorded since `before` (KEY-06). */
export async function recordKeyUse(
  em: EntityManager,
  id: number,
  { now, before }: { now: Date; before: Date },
): Promise<void> {
  await changeRows(em, (db) =>
    db
      .updateTable("api_keys")
      .set({ last_used_at: now })
      .where("id", "=", id)
      .where((eb) => eb.or([eb("last_used_at", "is", null), eb("last_used_at", "<", before)])),
  );
}

export interface KeyOwner {
  ownerId: number;
  realmId: number;
}

/** Number of keys that are not revoked. Requires the lock on the owner. */
export async function countOpenKeys(
  em: EntityManager,
  { ownerId, realmId }: KeyOwner,
): Promise<number> {
  const open = { owner: ownerId, realm: realmId, revokedAt: null };
  return inShare(em, () => em.count(ApiKeySchema, open));
}

/** All active keys and the newest `maxRevoked` revoked ones, newest first. */
export async function listKeys(
  em: EntityManager,
  { ownerId, realmId }: KeyOwner,
  maxRevoked: number,
): Promise<ApiKey[]> {
  const own = { owner: ownerId, realm: realmId };
  const newestFirst = { id: "desc" } as const;
  const [open, revoked] = [
    await inShare(em, () =>
      em.find(ApiKeySchema, { ...own, revokedAt: null }, { orderBy: newestFirst }),
    ),
    await inShare(em, () =>
      em.find(
        ApiKeySchema,
        { ...own, revokedAt: { $ne: null } },
        { orderBy: newestFirst, limit: maxRevoked },
      ),
    ),
  ];
  return [...open, ...revoked].toSorted((a, b) => b.id - a.id);
}

/** A key of this owner and realm, or null; `isLocked` locks it until the transaction of `em` ends. */
export function findOwnKey(
  em: EntityManager,
  id: number,
  { ownerId, realmId }: KeyOwner,
  isLocked = false,
): Promise<ApiKey | null> {
  return inShare(em, () =>
    em.findOne(
      ApiKeySchema,
      { id, owner: ownerId, realm: realmId },
      isLocked ? { lockMode: LockMode.PESSIMISTIC_WRITE } : {},
    ),
  );
}
