import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { systemClock } from "../../../server/platform/time/clock.ts";
import { preparedText } from "../../prepared.ts";
import { anyOf, millis, nullableMillis } from "../expressions.ts";
import { changeRows, findRow, findRows } from "../rows.ts";

/** How a session was created. */
export type SignInMethod =
  | "password"
  | "code"
  | "registration"
  | "social"
  | "passport"
  | "link"
  | "guest"
  | "reclaim"
  | "upgrade"
  | "consent";

export interface SignIn {
  /** Session id if the caller has to choose it; random by default. */
  id?: string;
  method: SignInMethod;
  /** When credentials were presented to us or to the social login's provider; null = never, or unknown. */
  authenticatedAt: Date | null;
  /** Sequence number among all sign-ins; null if no credentials were presented. */
  signInNumber: number | "next" | null;
  /** The session it was created from; null = none. */
  parent: string | null;
}

/** SQL for the next sequence number of sign-ins. */
export const nextSignInNumber = "nextval('sign_in_numbers')";

/** Allocates a sign-in number, unique across hosts: later sign-ins have higher numbers. */
export async function takeSignInNumber(em: EntityManager): Promise<number> {
  const row = await findRow(em, (db) =>
    db.selectNoFrom(sql<number>`${sql.raw(nextSignInNumber)}`.as("number")),
  );
  return row?.number ?? Infinity;
}

/** A token family as a login creates it. */
export interface NewFamily extends SignIn {
  id: string;
  player: number;
  isGuest: boolean;
  realm: string;
  generation: number;
  createdAt: Date;
  lastUsedAt: Date;
  endsAt: Date;
  userAgent: string | null;
}

export interface FamilyStep {
  id: string;
  playerId: number;
  /** Generation of the presented token. */
  generation: number;
  now: Date;
  /** How long the previous generation is still accepted. */
  graceMs: number;
}

export interface SteppedFamily {
  generation: number;
  isReused: boolean;
  isGuest: boolean;
  /**
   * The reclaim generation the player had at this refresh: whatever voids its reclaim tokens also voids
   * this session.
   */
  reclaimGeneration: number;
  endsAt: Date;
  realm: string;
}

// Raw SQL: each updated column depends on the previous row, and the player must be allowed to use the
// session.
const step = preparedText(
  ({ id, playerId, generation, now, graceMs, hostNow }: FamilyStep & { hostNow: Date }) => {
    // Uses the clock of Postgres for all hosts: their own clocks may differ by more than the grace period,
    // and a second tab must not look like token theft.
    const shared = sql`(${now}::timestamptz + (clock_timestamp() - ${hostNow}::timestamptz))`;
    return sql<Omit<SteppedFamily, "endsAt"> & { endsAtMs: number }>`
      update token_families f set
        generation = greatest(f.generation, ${generation}::int + 1),
        rotated_at = case when f.generation <= ${generation}::int then ${shared}
          else f.rotated_at end,
        revoked_at = case
          when f.generation <= ${generation}::int then null
          when f.generation = ${generation}::int + 1
            and f.rotated_at > ${shared} - ${graceMs}::int * interval '1 millisecond' then null
          else ${now}::timestamptz end,
        last_used_at = ${now}::timestamptz
      from players p
      where f.id = ${id} and f.player_id = ${playerId} and f.revoked_at is null
        and f.ends_at > ${now}::timestamptz
        and p.id = f.player_id and p.is_guest = f.is_guest and p.deleted_at is null
      returning f.generation, f.revoked_at is not null as "isReused",
        f.is_guest as "isGuest", p.reclaim_generation as "reclaimGeneration",
        ${millis("f.ends_at")} as "endsAtMs", f.realm`;
  },
);

/**
 * Rotates a refresh token in one statement, so that exactly one of several concurrent callers rotates
 * (TOK-04). The current generation advances, the previous one is accepted during the grace period, and any older
 * one ends the family. A newer one exists only if the database was set back since, and the family continues after it
 * (BOOT-52). Null if the family is unknown or has ended, or its player may no longer use it.
 */
export async function stepFamily(
  em: EntityManager,
  family: FamilyStep,
): Promise<SteppedFamily | null> {
  const [row] = await step(em, { ...family, hostNow: new Date(systemClock.now()) });
  if (!row) return null;
  const { endsAtMs, ...stepped } = row;
  return { ...stepped, endsAt: new Date(endsAtMs) };
}

export async function revokeFamily(em: EntityManager, id: string, now: Date): Promise<void> {
  await changeRows(em, (db) =>
    db
      .updateTable("token_families")
      .set({ revoked_at: now })
      .where("id", "=", id)
      .where("revoked_at", "is", null),
  );
}

export async function noteFamilyUse(em: EntityManager, id: string, now: Date): Promise<void> {
  await changeRows(em, (db) =>
    db.updateTable("token_families").set({ last_used_at: now }).where("id", "=", id),
  );
}

/**
 * Ends every session of a player except `keep`, if given (TOK-08). Requires a transaction: a sign-in
 * changes the player's row, so it is ordered before or after this.
 */
export async function revokeFamiliesOf(
  em: EntityManager,
  playerId: number,
  now: Date,
  keep = "",
): Promise<void> {
  await findRow(em, (db) =>
    db.selectFrom("players").select("id").where("id", "=", playerId).forNoKeyUpdate(),
  );
  await changeRows(em, (db) =>
    db
      .updateTable("token_families")
      .set({ revoked_at: now })
      .where("player_id", "=", playerId)
      .where("revoked_at", "is", null)
      .where("id", "<>", keep),
  );
}

/** An open session and when its player last presented credentials; null if never. */
export interface OpenSignIn {
  authenticatedAtMs: number | null;
  /** Null also for sessions from before sign-ins were numbered. */
  signInNumber: number | null;
  /** When a person signed in to open it; null for a session that comes from another, or proves nothing. */
  signedInAtMs: number | null;
  /** When its player last proved in it who they are (USR-12). */
  provedAtMs: number | null;
}

/** Methods of a sign-in by a person. */
const ownSignIns: readonly SignInMethod[] = [
  "password",
  "code",
  "registration",
  "social",
  "upgrade",
];

/** An open session of this player, or null. A sign-in is never later than the session it created. */
export function findOpenSignIn(
  em: EntityManager,
  { id, playerId, now }: { id: string; playerId: number; now: Date },
): Promise<OpenSignIn | null> {
  return findRow(em, (db) =>
    db
      .selectFrom("token_families")
      .select([
        sql<number | null>`case when authenticated_at is not null then
          ${millis(sql`least(authenticated_at, created_at)`)} end`.as("authenticatedAtMs"),
        "sign_in_number as signInNumber",
        nullableMillis(sql`case when method = ${anyOf(ownSignIns, "text")} then created_at end`).as(
          "signedInAtMs",
        ),
        nullableMillis("proved_at").as("provedAtMs"),
      ])
      .where("id", "=", id)
      .where("player_id", "=", playerId)
      .where("revoked_at", "is", null)
      .where("ends_at", ">", now),
  );
}

/** Records a proof in an open session of this player; false if it has ended. */
export async function markProved(
  em: EntityManager,
  { id, playerId, now }: { id: string; playerId: number; now: Date },
): Promise<boolean> {
  const numChanged = await changeRows(em, (db) =>
    db
      .updateTable("token_families")
      .set({ proved_at: now })
      .where("id", "=", id)
      .where("player_id", "=", playerId)
      .where("revoked_at", "is", null)
      .where("ends_at", ">", now),
  );
  return numChanged > 0;
}

/** Whether a session of this player is still open. */
export async function isFamilyOpen(
  em: EntityManager,
  family: { id: string; playerId: number; now: Date },
): Promise<boolean> {
  return (await findOpenSignIn(em, family)) !== null;
}

export interface OpenFamily {
  id: string;
  createdAtMs: number;
  lastUsedAtMs: number;
  userAgent: string | null;
}

/** Sessions that may still have a valid token, most recently used first (TOK-08). */
export function listOpenFamilies(
  em: EntityManager,
  {
    playerId,
    now,
    usedSince,
    limit,
  }: { playerId: number; now: Date; usedSince: Date; limit: number },
): Promise<OpenFamily[]> {
  return findRows(em, (db) =>
    db
      .selectFrom("token_families")
      .select([
        "id",
        millis("created_at").as("createdAtMs"),
        millis("last_used_at").as("lastUsedAtMs"),
        "user_agent as userAgent",
      ])
      .where("player_id", "=", playerId)
      .where("is_guest", "=", sql.lit(false))
      .where("revoked_at", "is", null)
      .where("ends_at", ">", now)
      .where("last_used_at", ">", usedSince)
      .orderBy("last_used_at", "desc")
      .orderBy("id")
      .limit(limit),
  );
}

/** Ends one session of a player; false if it is not an open session of theirs. */
export async function revokeOwnFamily(
  em: EntityManager,
  { id, playerId, now }: { id: string; playerId: number; now: Date },
): Promise<boolean> {
  const numRevoked = await changeRows(em, (db) =>
    db
      .updateTable("token_families")
      .set({ revoked_at: now })
      .where("id", "=", id)
      .where("player_id", "=", playerId)
      .where("revoked_at", "is", null),
  );
  return numRevoked > 0;
}

/** Number of open sessions of a player, including guests. */
export async function countOpenFamilies(
  em: EntityManager,
  playerId: number,
  now: Date,
): Promise<number> {
  const row = await findRow(em, (db) =>
    db
      .selectFrom("token_families")
      .select((eb) => eb.fn.countAll<number>().as("count"))
      .where("player_id", "=", playerId)
      .where("revoked_at", "is", null)
      .where("ends_at", ">", now),
  );
  return row?.count ?? 0;
}
