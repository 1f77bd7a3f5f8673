import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";
import { RealmSchema } from "./realm.ts";

/** Branding overrides of a realm; without a row, branding is not configured (RLM-01). */
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
    /** Requests from its origin belong to the realm and may use credentials (TOK-14, HTTP-10). */
    frontendUrl: p.string().length(2048).nullable(),
  },
});

export type RealmBranding = InferEntity<typeof RealmBrandingSchema>;
