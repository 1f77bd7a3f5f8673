import type { EntityManager } from "@mikro-orm/postgresql";
import { RealmBrandingSchema, type RealmBranding } from "../../entities/realm-branding.ts";
import { RealmSchema, type Realm } from "../../entities/realm.ts";
import { inShare } from "../../shared-entity-manager.ts";
import { anyOf } from "../expressions.ts";
import { findRows } from "../rows.ts";

export function findRealm(em: EntityManager, slug: string): Promise<Realm | null> {
  return inShare(em, () => em.findOne(RealmSchema, { slug }));
}

export function findBranding(em: EntityManager, realmId: number): Promise<RealmBranding | null> {
  return inShare(em, () => em.findOne(RealmBrandingSchema, { realm: realmId }));
}

export interface RealmFrontend {
  slug: string;
  frontendUrl: string;
}

/** Active realms with their own front end, up to 1,000. */
export function listFrontends(em: EntityManager): Promise<RealmFrontend[]> {
  return findRows(em, (db) =>
    db
      .selectFrom("realms as r")
      .innerJoin("realm_brandings as b", "b.realm_id", "r.id")
      .select(["r.slug", "b.frontend_url as frontendUrl"])
      .where("r.is_active", "=", true)
      .where("b.frontend_url", "is not", null)
      .$narrowType<{ frontendUrl: string }>()
      .orderBy("r.id")
      .limit(1000),
  );
}

export interface RealmSummary {
  slug: string;
  name: string;
  mode: string;
  is_active: boolean;
  frontend_url: string | null;
  num_keys: number;
}

/** Realms with their number of active keys, up to 1,000. */
export function listRealms(em: EntityManager): Promise<RealmSummary[]> {
  return findRows(em, (db) =>
    db
      .selectFrom("realms as r")
      .leftJoin("realm_brandings as b", "b.realm_id", "r.id")
      .select((eb) => [
        "r.slug",
        "r.name",
        "r.mode",
        "r.is_active",
        "b.frontend_url",
        eb
          .selectFrom("api_keys as k")
          .select((of) => of.fn.countAll<number>().as("count"))
          .whereRef("k.realm_id", "=", "r.id")
          .where("k.revoked_at", "is", null)
          .$asScalar()
          .$notNull()
          .as("num_keys"),
      ])
      .orderBy("r.id")
      .limit(1000),
  );
}

export interface MailBranding {
  slug: string;
  realmName: string;
  displayName: string | null;
  logoUrl: string | null;
  primaryColor: string | null;
  supportEmail: string | null;
  privacyUrl: string | null;
  termsUrl: string | null;
}

/** The mail branding of those realms that are active and have one. */
export function findMailBranding(
  em: EntityManager,
  slugs: readonly string[],
): Promise<MailBranding[]> {
  return findRows(em, (db) =>
    db
      .selectFrom("realms as r")
      .innerJoin("realm_brandings as b", "b.realm_id", "r.id")
      .select([
        "r.slug",
        "r.name as realmName",
        "b.display_name as displayName",
        "b.logo_url as logoUrl",
        "b.primary_color as primaryColor",
        "b.support_email as supportEmail",
        "b.privacy_url as privacyUrl",
        "b.terms_url as termsUrl",
      ])
      .where("r.is_active", "=", true)
      .where("r.slug", "=", anyOf(slugs, "text")),
  );
}
