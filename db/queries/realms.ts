import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { RealmBrandingSchema, type RealmBranding } from "../entities/realm-branding.ts";
import { RealmSchema, type Realm } from "../entities/realm.ts";
import { rowsOf } from "./rows.ts";

export function findRealm(em: EntityManager, slug: string): Promise<Realm | null> {
  return em.findOne(RealmSchema, { slug });
}

export function findBranding(em: EntityManager, realmId: number): Promise<RealmBranding | null> {
  return em.findOne(RealmBrandingSchema, { realm: realmId });
}

export interface RealmFrontend {
  slug: string;
  frontendUrl: string;
}

/** Active realms that have a front end of their own, at most 1,000. */
export function listFrontends(em: EntityManager): Promise<RealmFrontend[]> {
  return rowsOf(
    em,
    sql<RealmFrontend>`
      select r.slug, b.frontend_url as "frontendUrl"
      from realms r join realm_brandings b on b.realm_id = r.id
      where r.is_active and b.frontend_url is not null
      order by r.id limit 1000`,
  );
}
