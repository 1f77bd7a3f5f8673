import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";
import { RealmSchema } from "./realm.ts";

/** Overrides of one realm's look; no row means that branding is not configured (RLM-01). */
export const RealmBrandingSchema = defineEntity({
  name: "RealmBranding",
  tableName: "realm_brandings",
  properties: {
    realm: () => p.oneToOne(RealmSchema).primary().ref().owner(),
    displayName: p.string().length(128).nullable(),
    logoUrl: p.string().length(2048).nullable(),
    /** `#rrggbb`. */
    primaryColor: p.string().length(9).nullable(),
    privacyUrl: p.string().length(2048).nullable(),
    termsUrl: p.string().length(2048).nullable(),
    supportEmail: p.string().length(254).nullable(),
    /** Its origin names the realm and may use credentials (TOK-14, HTTP-10). */
    frontendUrl: p.string().length(2048).nullable(),
  },
});

export type RealmBranding = InferEntity<typeof RealmBrandingSchema>;
