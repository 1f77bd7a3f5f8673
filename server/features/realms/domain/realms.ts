import type { EntityManager } from "@mikro-orm/postgresql";
import type { RealmBranding } from "../../../../db/entities/realm-branding.ts";
import type { Realm } from "../../../../db/entities/realm.ts";
import { findBranding, findRealm, listRealms } from "../../../../db/queries/realms/realms.ts";

/** How often each process reads the origins of the realms' pages. */
export const originsRefreshMs = 5_000;
/** Time after a change of a realm in which every process has seen it; API keys are cached for less. */
export const realmsSettleMs = originsRefreshMs + 500;

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
