import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { OAuthClientSchema, type OAuthClient } from "../entities/oauth-client.ts";
import { rowsOf } from "./rows.ts";

export interface KnownOAuthClient {
  clientId: string;
  name: string;
  realm: string;
  secretHash: string | null;
  redirectUris: string[];
}

/** The client of this id, unless it was revoked or its realm is closed. */
export async function findOAuthClient(
  em: EntityManager,
  clientId: string,
): Promise<KnownOAuthClient | null> {
  const rows = await rowsOf(
    em,
    sql<KnownOAuthClient>`
      select c.client_id as "clientId", c.name, r.slug as realm, c.secret_hash as "secretHash",
        c.redirect_uris as "redirectUris"
      from oauth_clients c join realms r on r.id = c.realm_id
      where c.client_id = ${clientId} and c.revoked_at is null and r.is_active`,
  );
  return rows[0] ?? null;
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

/** False when there is no such client, or it was revoked before. */
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

/** Every client without its secret, at most 1,000. */
export function listOAuthClients(em: EntityManager): Promise<OAuthClientSummary[]> {
  return rowsOf(
    em,
    sql<OAuthClientSummary>`
      select c.client_id, c.name, r.slug as realm, c.secret_hash is null as is_public,
        c.revoked_at is not null as is_revoked, c.redirect_uris
      from oauth_clients c join realms r on r.id = c.realm_id order by c.id limit 1000`,
  );
}
