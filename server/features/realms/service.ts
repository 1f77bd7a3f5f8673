import type { RealmBranding } from "../../../db/entities/realm-branding.ts";
import type { Realm } from "../../../db/entities/realm.ts";
import { findBranding, findRealm, listFrontends } from "../../../db/queries/realms/realms.ts";
import { publicBaseUrl } from "../../platform/net/addresses.ts";
import { AppError } from "../../platform/errors.ts";
import type { WithConfig, WithEm } from "../../platform/capabilities.ts";

const slugForm = /^[a-z0-9][a-z0-9-]{1,62}$/;

export async function readRealm(deps: WithEm, slug: string): Promise<Realm> {
  const realm = slugForm.test(slug) ? await findRealm(deps.em, slug) : null;
  if (!realm) throw new AppError("realm:not_found");
  return realm;
}

export async function readBranding(deps: WithEm, slug: string): Promise<RealmBranding> {
  const realm = await readRealm(deps, slug);
  const branding = await findBranding(deps.em, realm.id);
  if (!branding) throw new AppError("realm:branding_missing");
  return branding;
}

/** Realm hints of a request. */
export interface RealmHints {
  /** `X-Realm` */
  named: string | undefined;
  /** `Origin` */
  origin: string | undefined;
}

/** Slug of the realm of a new session (TOK-14). Queries Postgres only when the request has a hint. */
export async function resolveRealm(
  deps: WithEm & WithConfig,
  { named, origin }: RealmHints,
): Promise<string> {
  if (named !== undefined && slugForm.test(named)) {
    const realm = await findRealm(deps.em, named);
    if (realm?.isActive) return realm.slug;
  }
  const wanted = originOf(origin);
  if (wanted !== null) {
    const frontends = await listFrontends(deps.em);
    const own = frontends.find((realm) => originOf(realm.frontendUrl) === wanted);
    if (own) return own.slug;
  }
  return deps.config.DEFAULT_REALM;
}

/** Origins of the active realms' front ends, for cross-origin permissions (HTTP-10). */
export async function readRealmOrigins(deps: WithEm): Promise<ReadonlySet<string>> {
  const frontends = await listFrontends(deps.em);
  const origins = frontends.map((realm) => originOf(realm.frontendUrl));
  return new Set(origins.filter((origin) => origin !== null));
}

/** Hosts of the active realms' front ends, with a port that is not the default (GW-08). */
export async function readRealmHosts(deps: WithEm): Promise<ReadonlySet<string>> {
  const origins = await readRealmOrigins(deps);
  return new Set([...origins].map((origin) => new URL(origin).host));
}

/** Address of the realm's pages, without a trailing slash; default: our own. */
export async function readFrontEnd(deps: WithEm & WithConfig, slug: string): Promise<string> {
  const frontends = await listFrontends(deps.em);
  const own = frontends.find((realm) => realm.slug === slug);
  return own?.frontendUrl.replace(/\/+$/, "") ?? publicBaseUrl(deps.config);
}

function originOf(text: string | undefined): string | null {
  if (text === undefined || !URL.canParse(text)) return null;
  const { origin } = new URL(text);
  return origin === "null" ? null : origin;
}
