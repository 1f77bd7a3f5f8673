import type { EntityManager } from "@mikro-orm/postgresql";
import { OAuthClientSchema, type OAuthClient } from "../../entities/oauth-client.ts";
import { isSet, isNull } from "../expressions.ts";
import { findRow, findRows } from "../rows.ts";

export interface KnownOAuthClient {
  clientId: string;
  name: string;
  realm: string;
  secretHash: string | null;
  redirectUris: string[];
}

/** The client with this id, unless it is revoked or its realm is closed. */
export function findOAuthClient(
  em: EntityManager,
  clientId: string,
): Promise<KnownOAuthClient | null> {
  return findRow(em, (db) =>
    db
      .selectFrom("oauth_clients as c")
      .innerJoin("realms as r", "r.id", "c.realm_id")
      .select([
        "c.client_id as clientId",
        "c.name",
        "r.slug as realm",
        "c.secret_hash as secretHash",
        "c.redirect_uris as redirectUris",
      ])
      .where("c.client_id", "=", clientId)
      .where("c.revoked_at", "is", null)
      .where("r.is_active", "=", true),
  );
}

export async function insertOAuthClient(
  em: EntityManager,
  client: Pick<OAuthClient, "clientId" | "name" | "redirectUris"> & {
    realmId: number;
    secretHash: string | null;
  },
): Promise<void> {
  const { realmId, ...rest } = client;
  await em.insert(OAuthClientSchema, { ...rest, realm: realmId });
}

/** False if the client does not exist or is already revoked. */
export async function revokeOAuthClient(
  em: EntityManager,
  clientId: string,
  now: Date,
): Promise<boolean> {
  const where = { clientId, revokedAt: null };
  return (await em.nativeUpdate(OAuthClientSchema, where, { revokedAt: now })) > 0;
}

export interface OAuthClientSummary {
  client_id: string;
  name: string;
  realm: string;
  is_public: boolean;
  is_revoked: boolean;
  redirect_uris: string[];
}

/** Up to 1,000 clients, without their secrets. */
export function listOAuthClients(em: EntityManager): Promise<OAuthClientSummary[]> {
  return findRows(em, (db) =>
    db
      .selectFrom("oauth_clients as c")
      .innerJoin("realms as r", "r.id", "c.realm_id")
      .select([
        "c.client_id",
        "c.name",
        "r.slug as realm",
        isNull("c.secret_hash").as("is_public"),
        isSet("c.revoked_at").as("is_revoked"),
        "c.redirect_uris",
      ])
      .orderBy("c.id")
      .limit(1000),
  );
}
