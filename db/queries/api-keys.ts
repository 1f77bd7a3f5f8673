import { LockMode, type EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import type { KnownKey } from "../../server/core/api-keys.ts";
import { ApiKeySchema, type ApiKey } from "../entities/api-key.ts";
import { inShare } from "../shared-entity-manager.ts";
import { rowsOf } from "./rows.ts";

/** A key by prefix, unless its owner's account or its realm is closed. */
export async function findKnownKey(em: EntityManager, prefix: string): Promise<KnownKey | null> {
  const rows = await rowsOf(
    em,
    sql<KnownKey>`
      select k.id, k.prefix, k.secret_hash as "secretHash", k.owner_id as "ownerId",
        p.name as "ownerName", r.slug as realm, k.scopes, k.origins, k.is_active as "isActive",
        (extract(epoch from k.expires_at) * 1000)::float8 as "expiresAt",
        (extract(epoch from k.revoked_at) * 1000)::float8 as "revokedAt",
        (extract(epoch from k.last_used_at) * 1000)::float8 as "lastUsedAt"
      from api_keys k join players p on p.id = k.owner_id join realms r on r.id = k.realm_id
      where k.prefix = ${prefix} and p.deleted_at is null and r.is_active`,
  );
  return rows[0] ?? null;
}

/** Records a use unless one was recorded since `before` (KEY-06). */
export async function recordKeyUse(
  em: EntityManager,
  id: number,
  { now, before }: { now: Date; before: Date },
): Promise<void> {
  await rowsOf(
    em,
    sql`update api_keys set last_used_at = ${now}
      where id = ${id} and (last_used_at is null or last_used_at < ${before})`,
  );
}

export interface KeyOwner {
  ownerId: number;
  realmId: number;
}

/** Keys that are not revoked. Call it with the owner locked. */
export async function countOpenKeys(
  em: EntityManager,
  { ownerId, realmId }: KeyOwner,
): Promise<number> {
  const open = { owner: ownerId, realm: realmId, revokedAt: null };
  return inShare(em, () => em.count(ApiKeySchema, open));
}

/** All keys that are not revoked and the newest `maxRevoked` that are, newest first. */
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

/** A key of this owner and realm, or null; with `isLocked` until the transaction of `em` ends. */
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
