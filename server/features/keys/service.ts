import type { EntityManager } from "@mikro-orm/postgresql";
import { lockAccount } from "../../../db/queries/accounts/accounts.ts";
import {
  countOpenKeys,
  findOwnKey,
  listKeys,
  type KeyOwner,
} from "../../../db/queries/keys/api-keys.ts";
import { ApiKeySchema, type ApiKey } from "../../../db/entities/api-key.ts";
import { hashOfKey, newKeyPrefix, newPlaintext } from "../../platform/security/api-keys.ts";
import { AppError } from "../../platform/errors.ts";
import { parseInstant } from "../../platform/time/instants.ts";
import { normalizeKeyOrigin } from "../../platform/security/key-origins.ts";
import { logSecurity } from "../../platform/log/security-log.ts";
import type { KeyDeps } from "./deps.ts";
import type { Caller } from "../../http/auth/auth.ts";
import { requireOpenSession } from "../sessions/sessions.ts";
import { readRealm } from "../realms/service.ts";

/** Maximum active keys of an owner in a realm (KEY-07). */
export const maxOpenKeys = 50;
/** Maximum revoked keys in a list; older ones stay stored. */
export const maxRevokedListed = 500;

export interface NewKey {
  name: string;
  scopes: readonly string[];
  origins: readonly string[];
  /** ISO 8601. */
  expiresAt: string | null;
}

export interface SecretKey {
  key: ApiKey;
  /** Shown once. */
  plaintext: string;
}

export async function createKey(
  deps: KeyDeps,
  caller: Caller,
  slug: string,
  input: NewKey,
): Promise<SecretKey> {
  const now = deps.clock.now();
  const expiresAt = input.expiresAt === null ? null : parseInstant(input.expiresAt);
  if (expiresAt !== null && expiresAt <= now) throw new AppError("key:expires_in_past");
  const realm = await readRealm(deps, slug);
  if (!realm.isActive) throw new AppError("realm:not_found");
  const prefix = newKeyPrefix();
  const plaintext = newPlaintext(prefix);
  const key = await deps.em.transactional(async (em) => {
    // The lock makes the count of keys exact under concurrent requests.
    if (!(await lockAccount(em, caller.playerId))) throw new AppError("auth:token_invalid");
    await requireOpenSession({ em, clock: deps.clock }, caller);
    const owner = { ownerId: caller.playerId, realmId: realm.id };
    if ((await countOpenKeys(em, owner)) >= maxOpenKeys) throw new AppError("key:limit_reached");
    return em.create(ApiKeySchema, {
      owner: caller.playerId,
      realm: realm.id,
      name: input.name.trim(),
      prefix,
      secretHash: hashOfKey(plaintext),
      scopes: distinct(input.scopes),
      origins: storedOrigins(input.origins),
      isActive: true,
      createdBy: caller.family,
      expiresAt: expiresAt === null ? null : new Date(expiresAt),
      createdAt: new Date(now),
    });
  });
  logSecurity(deps, "key_created", { player: caller.playerId, key: key.id });
  return { key, plaintext };
}

export async function listOwnKeys(deps: KeyDeps, caller: Caller, slug: string): Promise<ApiKey[]> {
  return listKeys(deps.em, await ownerIn(deps, caller, slug), maxRevokedListed);
}

/** Finds a key of the caller; a key of another owner is not found (S10). */
export interface KeyPlace {
  slug: string;
  id: number;
}

export async function readKey(
  deps: KeyDeps,
  caller: Caller,
  { slug, id }: KeyPlace,
): Promise<ApiKey> {
  const key = await findOwnKey(deps.em, id, await ownerIn(deps, caller, slug));
  if (!key) throw new AppError("key:not_found");
  return key;
}

export interface KeyChange {
  name?: string | undefined;
  scopes?: readonly string[] | undefined;
  origins?: readonly string[] | undefined;
  is_active?: boolean | undefined;
}

export function changeKey(
  deps: KeyDeps,
  caller: Caller,
  place: KeyPlace,
  change: KeyChange,
): Promise<ApiKey> {
  return updateKey(deps, caller, place, async (key, em) => {
    await requireOpenSession({ em, clock: deps.clock }, caller);
    if (key.revokedAt) throw new AppError("key:revoked_state");
    if (change.name !== undefined) key.name = change.name.trim();
    if (change.scopes !== undefined) key.scopes = distinct(change.scopes);
    if (change.origins !== undefined) key.origins = storedOrigins(change.origins);
    if (change.is_active !== undefined) key.isActive = change.is_active;
  });
}

/** Revokes a key permanently; a revoked key is unchanged (KEY-07). */
export async function revokeKey(deps: KeyDeps, caller: Caller, place: KeyPlace): Promise<void> {
  if ((await readKey(deps, caller, place)).revokedAt) return;
  const key = await updateKey(deps, caller, place, (each) => {
    each.revokedAt ??= new Date(deps.clock.now());
  });
  logSecurity(deps, "key_revoked", { player: caller.playerId, key: key.id });
}

/** Replaces the secret of a key; a revoked key stays revoked (KEY-07). */
export async function rollKey(deps: KeyDeps, caller: Caller, place: KeyPlace): Promise<SecretKey> {
  let plaintext = "";
  const key = await updateKey(deps, caller, place, async (each, em) => {
    await requireOpenSession({ em, clock: deps.clock }, caller);
    plaintext = newPlaintext(each.prefix);
    each.secretHash = hashOfKey(plaintext);
    each.createdBy = caller.family;
    each.rolledAt = new Date(deps.clock.now());
  });
  logSecurity(deps, "key_rolled", { player: caller.playerId, key: key.id });
  return { key, plaintext };
}

/** Changes a locked key and publishes the change, so that every process evicts its cached state. */
async function updateKey(
  deps: KeyDeps,
  caller: Caller,
  { slug, id }: KeyPlace,
  change: (key: ApiKey, em: EntityManager) => void | Promise<void>,
): Promise<ApiKey> {
  const owner = await ownerIn(deps, caller, slug);
  return deps.em.transactional(async (em) => {
    await lockAccount(em, caller.playerId);
    const found = await findOwnKey(em, id, owner, true);
    if (!found) throw new AppError("key:not_found");
    await change(found, em);
    return found;
  });
}

async function ownerIn(deps: KeyDeps, caller: Caller, slug: string): Promise<KeyOwner> {
  return { ownerId: caller.playerId, realmId: (await readRealm(deps, slug)).id };
}

const distinct = (texts: readonly string[]) => [...new Set(texts)];

function storedOrigins(texts: readonly string[]): string[] {
  return distinct(texts.map(normalizeKeyOrigin).filter((origin) => origin !== null));
}
