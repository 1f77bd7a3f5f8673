import type { EntityManager } from "@mikro-orm/postgresql";
import type { RealmBranding } from "../../../../db/entities/realm-branding.ts";
import type { Realm } from "../../../../db/entities/realm.ts";
import { findBranding, findRealm, listRealms } from "../../../../db/queries/realms/realms.ts";

export interface BrandedRealm {
  realm: Realm;
  /** Null while it has none. */
  branding: RealmBranding | null;
}

/** A realm with its branding; null if there is none with this slug. */
export async function brandedRealmOf(
  em: EntityManager,
  slug: string,
): Promise<BrandedRealm | null> {
  const realm = await findRealm(em, slug);
  return realm && { realm, branding: await findBranding(em, realm.id) };
}

export const allRealms = (em: EntityManager) => listRealms(em);
