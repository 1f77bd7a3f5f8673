import type { EntityManager } from "@mikro-orm/postgresql";
import { RealmBrandingSchema, type RealmBranding } from "../../db/entities/realm-branding.ts";
import { RealmSchema, type Realm } from "../../db/entities/realm.ts";
import { normalizeEmail } from "../platform/text/account-names.ts";
import { rules } from "../platform/config/config-rules.ts";
import type { Config } from "../platform/config/config.ts";
import { isNewLabel } from "../platform/text/name-rules.ts";
import { Refusal, textOf, type ConsoleCommand, type Options } from "./command.ts";
import { audit, inDatabase, refuseDuplicate } from "./in-database.ts";
import {
  allRealms,
  brandedRealmOf,
  realmsSettleMs,
  type BrandedRealm,
} from "../features/realms/domain/realms.ts";

const slugPattern = new RegExp(rules.realm.pattern);
const maxName = 128;
const maxUrl = 2_048;
const slugOption: [string, string] = ["--slug <slug>", "a-z, 0-9 and -, 2 to 63 characters"];
const modes = ["hosted", "shadow"] as const;

/** Option -> the field it sets and its check; an empty value clears the field. */
const brandingFields: readonly [
  option: string,
  field: Exclude<keyof RealmBranding & string, "realm">,
  isValid: (text: string, config: Config) => boolean,
  /** Converts to the stored form; default: unchanged. */
  toStored?: (text: string) => string | null,
][] = [
  ["display-name", "displayName", (text) => text.length <= maxName && isNewLabel(text)],
  ["logo-url", "logoUrl", isWebAddress],
  ["primary-color", "primaryColor", (text) => /^#[0-9a-f]{6}$/i.test(text)],
  ["privacy-url", "privacyUrl", isWebAddress],
  ["terms-url", "termsUrl", isWebAddress],
  ["support-email", "supportEmail", (text) => normalizeEmail(text) !== null, normalizeEmail],
  ["frontend-url", "frontendUrl", isWebAddress],
];

export const realmCommands: readonly ConsoleCommand[] = [
  {
    name: "realm:create",
    summary: "Create a realm",
    required: [slugOption, ["--name <name>", "display name"]],
    optional: [["--mode <mode>", modes.join(" or ")]],
    run: createRealm,
  },
  { name: "realm:list", summary: "List the realms with their branding", run: showRealms },
  {
    name: "realm:change",
    summary: "Rename, close or reopen a realm",
    required: [slugOption],
    optional: [
      ["--name <name>", "display name"],
      ["--mode <mode>", modes.join(" or ")],
      ["--active <active>", "true or false; false disables its API keys"],
    ],
    settleMs: realmsSettleMs,
    run: changeRealm,
  },
  {
    name: "realm:branding",
    summary: "Set the branding and the addresses of a realm; an empty value clears one",
    required: [slugOption],
    optional: [
      ...brandingFields.map(([option]): [string, string] => [
        `--${option} <value>`,
        "see GET branding",
      ]),
      ["--remove", "remove the whole branding"],
    ],
    settleMs: realmsSettleMs,
    run: changeBranding,
  },
];

async function createRealm(config: Config, options: Options) {
  const slug = String(options["slug"]);
  const name = nameOf(options) ?? "";
  const mode = modeOf(options) ?? "hosted";
  if (!slugPattern.test(slug))
    throw new Refusal(`realm:invalid_slug must be ${rules.realm.allowed}`);
  const make = async (em: EntityManager) => {
    await em.insert(RealmSchema, { slug, name, mode }).catch(refuseDuplicate("realm:exists"));
    await audit(em, "realm:create", slug);
    return { slug, name, mode };
  };
  return inDatabase(config, make, { action: "realm:create", target: slug });
}

async function showRealms(config: Config) {
  return inDatabase(config, async (em) => ({ realms: await allRealms(em) }));
}

async function changeRealm(config: Config, options: Options) {
  const name = nameOf(options);
  const mode = modeOf(options);
  const active = textOf(options, "active");
  if (active !== undefined && active !== "true" && active !== "false")
    throw new Refusal("realm:invalid_active true or false");
  if (name === undefined && mode === undefined && active === undefined)
    throw new Refusal("realm:no_fields nothing to set");
  if (active === "false" && options["slug"] === config.DEFAULT_REALM)
    throw new Refusal("realm:is_default the default realm cannot be closed");
  const make = async (em: EntityManager) => {
    const { realm } = await findGiven(em, options);
    if (name !== undefined) realm.name = name;
    if (mode !== undefined) realm.mode = mode;
    if (active !== undefined) realm.isActive = active === "true";
    await audit(em, "realm:change", realm.slug);
    return { slug: realm.slug, name: realm.name, mode: realm.mode, is_active: realm.isActive };
  };
  return inDatabase(config, make, { action: "realm:change", target: String(options["slug"]) });
}

const itself = (text: string) => text;

async function changeBranding(config: Config, options: Options) {
  const changes = brandingFields.flatMap(([option, field, isValid, toStored = itself]) => {
    const text = textOf(options, field);
    if (text === undefined) return [];
    if (text !== "" && !isValid(text, config))
      throw new Refusal(`realm:invalid_branding --${option}`);
    return [[field, text === "" ? null : toStored(text)] as const];
  });
  const isRemoved = options["remove"] === true;
  if (changes.length === 0 && !isRemoved) throw new Refusal("realm:no_fields nothing to set");
  const action = isRemoved ? "realm:branding_remove" : "realm:branding";
  const make = async (em: EntityManager) => {
    const { realm, branding: known } = await findGiven(em, options);
    await audit(em, action, realm.slug);
    if (isRemoved) {
      if (known) em.remove(known);
      return { slug: realm.slug, branding: null };
    }
    const branding = known ?? em.create(RealmBrandingSchema, { realm });
    Object.assign(branding, Object.fromEntries(changes));
    const shown = brandingFields.map(([option, field]) => [
      option.replaceAll("-", "_"),
      branding[field] ?? null,
    ]);
    return { slug: realm.slug, ...Object.fromEntries(shown) };
  };
  return inDatabase(config, make, { action, target: String(options["slug"]) });
}

async function findGiven(em: EntityManager, options: Options): Promise<BrandedRealm> {
  const found = await brandedRealmOf(em, String(options["slug"]));
  if (!found) throw new Refusal("realm:not_found");
  return found;
}

function nameOf(options: Options): string | undefined {
  const name = textOf(options, "name");
  if (name !== undefined && (name.length > maxName || !isNewLabel(name)))
    throw new Refusal(`realm:invalid_name 1 to ${maxName} characters, none of them invisible`);
  return name;
}

function modeOf(options: Options): Realm["mode"] | undefined {
  const text = textOf(options, "mode");
  const mode = modes.find((each) => each === text);
  if (text !== undefined && mode === undefined)
    throw new Refusal(`realm:invalid_mode ${modes.join(" or ")}`);
  return mode;
}

/**
 * Checks an address for pages and mails; that of the front end is an origin that may use credentials. Production
 * requires https (S21, S23, S25).
 */
function isWebAddress(text: string, { APP_ENV }: Config): boolean {
  if (text.length > maxUrl || !URL.canParse(text)) return false;
  const { protocol, username } = new URL(text);
  const isPlain = protocol === "http:" && APP_ENV !== "production";
  return (protocol === "https:" || isPlain) && username === "";
}
