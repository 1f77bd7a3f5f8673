import Type, { type Static } from "typebox";
import type { RealmBranding } from "../../../db/entities/realm-branding.ts";
import type { Realm } from "../../../db/entities/realm.ts";

export const SlugParams = Type.Object({ slug: Type.String() });

export const RealmBody = Type.Object({
  realm: Type.Object(
    {
      slug: Type.String(),
      name: Type.String(),
      mode: Type.Enum(["hosted", "shadow"]),
      is_active: Type.Boolean(),
    },
    { title: "Realm" },
  ),
});

const OptionalText = Type.Unsafe<string | null>({ type: ["string", "null"] });

export const BrandingBody = Type.Object({
  branding: Type.Object(
    {
      display_name: OptionalText,
      logo_url: OptionalText,
      primary_color: OptionalText,
      privacy_url: OptionalText,
      terms_url: OptionalText,
      support_email: OptionalText,
      frontend_url: OptionalText,
    },
    { title: "Branding" },
  ),
});

export function presentRealm(realm: Realm): Static<typeof RealmBody> {
  const { slug, name, mode, isActive } = realm;
  return { realm: { slug, name, mode, is_active: isActive } };
}

export function presentBranding(branding: RealmBranding): Static<typeof BrandingBody> {
  return {
    branding: {
      display_name: branding.displayName ?? null,
      logo_url: branding.logoUrl ?? null,
      primary_color: branding.primaryColor ?? null,
      privacy_url: branding.privacyUrl ?? null,
      terms_url: branding.termsUrl ?? null,
      support_email: branding.supportEmail ?? null,
      frontend_url: branding.frontendUrl ?? null,
    },
  };
}
