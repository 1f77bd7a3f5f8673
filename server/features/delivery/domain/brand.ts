import type { EntityManager } from "@mikro-orm/postgresql";
import { findMailBranding, type MailBranding } from "../../../../db/queries/realms/realms.ts";
import type { Config } from "../../../platform/config/config.ts";

/** Branding of a message; texts are escaped, addresses were validated. */
export interface Brand {
  name: string;
  /** `#rrggbb` */
  color: string;
  /** On `color`. */
  textColor: string;
  logoUrl: string | null;
  supportEmail: string | null;
  privacyUrl: string | null;
  termsUrl: string | null;
}

const ownColor = "#b4430f";
const colorForm = /^#[0-9a-f]{6}$/i;

/**
 * Branding of the player's realm, or of the default realm when that has none or is closed; else our own, with the
 * sender's name. Missing fields of a realm fall back the same way.
 */
export async function readBrand(
  em: EntityManager,
  config: Pick<Config, "MAIL_FROM" | "DEFAULT_REALM">,
  realm: string | null,
): Promise<Brand> {
  const wanted = [...new Set([realm ?? config.DEFAULT_REALM, config.DEFAULT_REALM])];
  const found = await findMailBranding(em, wanted);
  const branding = wanted.flatMap((slug) => found.find((one) => one.slug === slug) ?? [])[0];
  const ownName = senderName(config);
  const isDefault = branding === undefined || branding.slug === config.DEFAULT_REALM;
  // The default realm is the service itself: the name of its row is for operators.
  return toBrand(branding ?? null, isDefault ? ownName : branding.realmName);
}

function toBrand(branding: MailBranding | null, otherwise: string): Brand {
  const given = branding?.primaryColor ?? "";
  const color = colorForm.test(given) ? given.toLowerCase() : ownColor;
  return {
    name: branding?.displayName ?? otherwise,
    color,
    textColor: isLight(color) ? "#000000" : "#ffffff",
    logoUrl: webAddress(branding?.logoUrl),
    supportEmail: branding?.supportEmail ?? null,
    privacyUrl: webAddress(branding?.privacyUrl),
    termsUrl: webAddress(branding?.termsUrl),
  };
}

/** Name of the service: that of the sender. */
function senderName({ MAIL_FROM }: Pick<Config, "MAIL_FROM">): string {
  const name = MAIL_FROM.includes("<") ? MAIL_FROM.slice(0, MAIL_FROM.indexOf("<")).trim() : "";
  return name === "" ? "emberline" : name;
}

/** Rows may be older than the rules of the console. */
function webAddress(text: string | null | undefined): string | null {
  return typeof text === "string" && /^https?:$/.test(URL.parse(text)?.protocol ?? "")
    ? text
    : null;
}

/** True when black has more contrast on the colour than white (WCAG relative luminance). */
function isLight(color: string): boolean {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179;
}
