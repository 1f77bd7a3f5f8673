import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { PlayerSchema, type Player } from "../entities/player.ts";
import { inShare } from "../shared-entity-manager.ts";
import { rowsOf } from "./rows.ts";

export interface ConnectionKey {
  provider: string;
  subject: string;
}

export interface Connection extends ConnectionKey {
  playerId: number;
  name: string | null;
  avatarUrl: string | null;
  /** Session it is linked in; kept when the link is renewed. */
  linkedBy?: string | null;
}

/** Whom a login at a provider leads to, whether the account is open or not. */
export async function findConnectedPlayer(
  em: EntityManager,
  { provider, subject }: ConnectionKey,
): Promise<number | null> {
  const rows = await rowsOf(
    em,
    sql<{ id: number }>`select player_id as id from oauth_connections
      where provider = ${provider} and subject = ${subject} and revoked_at is null`,
  );
  return rows[0]?.id ?? null;
}

/** Whoever has this address, closed accounts included: theirs stays reserved (USR-09). */
export function findAddressHolder(em: EntityManager, emailKey: string): Promise<Player | null> {
  return inShare(em, () => em.findOne(PlayerSchema, { emailKey }));
}

/**
 * Links, or renews what is known of a link. A login that leads to somebody else, and another login
 * of the same provider, break a constraint.
 */
export async function saveConnection(
  em: EntityManager,
  { playerId, provider, subject, name, avatarUrl, linkedBy = null }: Connection,
  now: Date,
): Promise<boolean> {
  const rows = await rowsOf(
    em,
    sql`insert into oauth_connections as c
        (player_id, provider, subject, name, avatar_url, linked_at, linked_by)
      values (${playerId}, ${provider}, ${subject}, ${name}, ${avatarUrl}, ${now}, ${linkedBy})
      on conflict (provider, subject) where revoked_at is null do update
        set name = excluded.name, avatar_url = excluded.avatar_url
        where c.player_id = excluded.player_id
      returning id`,
  );
  return rows.length > 0;
}

export interface ListedConnection {
  provider: string;
  name: string | null;
  avatarUrl: string | null;
  linkedAtMs: number;
}

/** The logins of an account: at most one for each provider. */
export function listConnections(em: EntityManager, playerId: number): Promise<ListedConnection[]> {
  return rowsOf(
    em,
    sql<ListedConnection>`select provider, name, avatar_url as "avatarUrl",
        (extract(epoch from linked_at) * 1000)::float8 as "linkedAtMs"
      from oauth_connections where player_id = ${playerId} and revoked_at is null order by linked_at, id`,
  );
}

export async function deleteConnection(
  em: EntityManager,
  { playerId, provider }: { playerId: number; provider: string },
): Promise<boolean> {
  const rows = await rowsOf(
    em,
    sql`delete from oauth_connections where player_id = ${playerId} and provider = ${provider}
        and revoked_at is null
      returning id`,
  );
  return rows.length > 0;
}
