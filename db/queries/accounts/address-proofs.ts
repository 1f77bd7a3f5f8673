import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import type { Revocation } from "../../entities/revocation.ts";
import { millis, nullableMillis } from "../expressions.ts";
import { findRow, findRows, rowsOf } from "../rows.ts";

/**
 * Whether the player holds this open session. A passport session proves nothing, since anybody may
 * have placed a passport in the browser.
 */
export async function isProvingSession(
  em: EntityManager,
  { id, playerId, now }: { id: string; playerId: number; now: Date },
): Promise<boolean> {
  const session = await findRow(em, (db) =>
    db
      .selectFrom("token_families")
      .select("id")
      .where("id", "=", id)
      .where("player_id", "=", playerId)
      .where("revoked_at", "is", null)
      .where("ends_at", ">", now)
      .where("method", "is distinct from", "passport"),
  );
  return session !== null;
}

/**
 * Whether nobody has verified an address of this open account yet. One that replaced a verified address is that of the
 * same owner (USR-13).
 */
export async function isAddressUnproven(em: EntityManager, playerId: number): Promise<boolean> {
  const player = await findRow(em, (db) =>
    db
      .selectFrom("players")
      .select("id")
      .where("id", "=", playerId)
      .where("is_guest", "=", false)
      .where("deleted_at", "is", null)
      .where("email_key", "is not", null)
      .where("email_verified_at", "is", null)
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom("replaced_addresses")
              .select("id")
              .where("player_id", "=", playerId)
              .where("superseded_at", "is", null),
          ),
        ),
      ),
  );
  return player !== null;
}

export interface AddressProof {
  playerId: number;
  /** The session that verified the address; it and its descendants survive. "" = none. */
  keep: string;
  /** True if the caller who verified the address also set the password. */
  keepsPassword: boolean;
  reason: string;
  now: Date;
  /** Keys, logins and the number from before this stay; null = none do. */
  since: Date | null;
}

export interface Revoked {
  /** Sessions that may still have valid access tokens. */
  families: string[];
  /** Providers whose login was unlinked. */
  providers: string[];
}

/**
 * Marks the address as verified and removes what was attached to the account without that proof:
 * sessions, consents, API keys, linked logins, phone number and password. Each removal is recorded
 * with its reason. Requires the lock on the player's row.
 */
export async function revokeUnproven(em: EntityManager, proof: AddressProof): Promise<Revoked> {
  const { playerId, keep, keepsPassword, reason, now, since } = proof;
  const from = sql`coalesce(${since}::timestamptz, '-infinity')`;
  // An access token outlives its sign-out by up to an hour, and the clocks of hosts may differ by a
  // day.
  const mayBeHeldSince = sql`(${now}::timestamptz - interval '26 hours')`;
  // Raw SQL: a recursion and nine writes in one statement.
  const [row] = await rowsOf(
    em,
    sql<Revoked>`with recursive kept(id) as (
        select id from token_families where id = ${keep} and player_id = ${playerId}
        union
        select f.id from token_families f join kept k on f.parent = k.id where f.player_id = ${playerId}
      ), families as (
        update token_families f set revoked_at = ${now}, revoked_reason = ${reason}
        where f.player_id = ${playerId} and f.revoked_at is null and f.ends_at > ${now}
          and f.id not in (select id from kept)
        returning f.id, f.method, f.user_agent, f.created_at, f.last_used_at
      ), ended as (
        update token_families f set revoked_reason = ${reason}
        where f.player_id = ${playerId} and f.revoked_at is not null and f.revoked_reason is null
          and not f.is_guest and f.last_used_at > ${mayBeHeldSince} and f.id not in (select id from kept)
        returning f.id
      ), keys as (
        update api_keys a set revoked_at = ${now}, revoked_reason = ${reason}
        where a.owner_id = ${playerId} and a.revoked_at is null
          and coalesce(a.rolled_at, a.created_at) >= ${from}
          and (a.created_by is null or a.created_by not in (select id from kept))
        returning a.name, a.prefix, a.created_at
      ), connections as (
        delete from oauth_connections c
        where c.player_id = ${playerId} and c.linked_at >= ${from}
          and (c.linked_by is null or c.linked_by not in (select id from kept))
        returning c.provider, c.subject, c.linked_at
      ), account as (
        select p.id, p.phone, p.phone_verified_at,
          p.phone is not null and coalesce(p.phone_verified_at >= ${from}, true)
            and (p.phone_by is null or p.phone_by not in (select id from kept)) as loses_phone,
          not ${keepsPassword}::boolean and p.password_hash is not null
            and (p.password_by is null or p.password_by not in (select id from kept)) as loses_password
        from players p where p.id = ${playerId}
      ), taken(kind, label, attached_at, subject) as (
        select case when method = 'consent' then 'consent' else 'session' end, user_agent, created_at, null
          from families
        union all select 'api_key', name || ' (' || prefix || ')', created_at, null from keys
        union all select 'connection', provider, linked_at, subject from connections
        union all select 'phone', phone, phone_verified_at, null from account where loses_phone
        union all select 'password', null, null, null from account where loses_password
      ), listed as (
        insert into revocations (player_id, kind, label, subject, reason, attached_at, revoked_at)
        select ${playerId}::int, kind, label, subject, ${reason}, attached_at, ${now}::timestamptz from taken
      ), unverified as (
        delete from email_verifications where player_id = ${playerId}
      )
      update players p set email_verified_at = ${now},
        phone = case when a.loses_phone then null else p.phone end,
        phone_verified_at = case when a.loses_phone then null else p.phone_verified_at end,
        password_hash = case when a.loses_password then null else p.password_hash end,
        address_ip = null, address_agent = null, address_device = null
      from account a where p.id = a.id
      returning
        (select coalesce(array_agg(id), '{}') from (
          select id from families where last_used_at > ${mayBeHeldSince}
          union all select id from ended) held) as families,
        (select coalesce(array_agg(provider), '{}') from connections) as providers`,
  );
  return row ?? { families: [], providers: [] };
}

export interface RevocationRow {
  kind: Revocation["kind"];
  label: string | null;
  reason: string;
  attachedAtMs: number | null;
  revokedAtMs: number;
}

/** What was removed from an account, newest first. */
export function listRevocations(
  em: EntityManager,
  playerId: number,
  limit: number,
): Promise<RevocationRow[]> {
  return findRows(em, (db) =>
    db
      .selectFrom("revocations")
      .select([
        "kind",
        "label",
        "reason",
        nullableMillis("attached_at").as("attachedAtMs"),
        millis("revoked_at").as("revokedAtMs"),
      ])
      .where("player_id", "=", playerId)
      .orderBy("id", "desc")
      .limit(limit),
  );
}

/** Sessions ended together with their access tokens since that time, newest first. */
export async function listVoidFamilies(
  em: EntityManager,
  { since, limit }: { since: Date; limit: number },
): Promise<string[]> {
  const rows = await findRows(em, (db) =>
    db
      .selectFrom("token_families")
      .select("id")
      .where("revoked_reason", "is not", null)
      .where("revoked_at", ">", since)
      .orderBy("revoked_at", "desc")
      .limit(limit),
  );
  return rows.map(({ id }) => id);
}

/** The client that entered the address of a verification token. */
export interface AddressOrigin {
  name: string;
  realm: string;
  createdAtMs: number;
  setAtMs: number | null;
  ip: string | null;
  agent: string | null;
  device: string | null;
}

export function findAddressOrigin(
  em: EntityManager,
  playerId: number,
): Promise<AddressOrigin | null> {
  return findRow(em, (db) =>
    db
      .selectFrom("players")
      .select([
        "name",
        "realm",
        "address_ip as ip",
        "address_agent as agent",
        "address_device as device",
        millis(sql`coalesce(upgraded_at, created_at)`).as("createdAtMs"),
        nullableMillis("address_set_at").as("setAtMs"),
      ])
      .where("id", "=", playerId)
      .where("deleted_at", "is", null),
  );
}
