import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { systemClock } from "../../../server/platform/time/clock.ts";
import { preparedText } from "../../prepared.ts";
import { millis } from "../expressions.ts";
import { changeRows, findRow, findRows } from "../rows.ts";

/** How a session came about. */
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
  /** Of the session, where something else has to name it; a random one when absent. */
  id?: string;
  method: SignInMethod;
  /** When credentials were shown: to us, or to the provider of a social login; null = not, or not known. */
  authenticatedAt: Date | null;
  /** Its place among all sign-ins; null where nobody showed credentials for it. */
  signInNumber: number | "next" | null;
  /** Session it was made from; null = by nobody's. */
  parent: string | null;
}

/** The next place among all sign-ins; those from now on come after it. */
export const nextSignInNumber = "nextval('sign_in_numbers')";

/** Takes a place among all sign-ins, of any host: what signs in later has a higher number. */
export async function takeSignInNumber(em: EntityManager): Promise<number> {
  const row = await findRow(em, (db) =>
    db.selectNoFrom(sql<number>`${sql.raw(nextSignInNumber)}`.as("number")),
  );
  return row?.number ?? Infinity;
}

/** A family as a login opens it. */
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
  /** Carried by the presented token. */
  generation: number;
  now: Date;
  /** How long the generation before the current one is accepted. */
  graceMs: number;
}

export interface SteppedFamily {
  generation: number;
  isReused: boolean;
  isGuest: boolean;
  /** Of the player as the step found it: what voided its reclaim tokens since voids this one too. */
  reclaimGeneration: number;
  endsAt: Date;
  realm: string;
}

// Text: each column of the update hangs on what the row was before, and its player has to be one who may use it.
const step = preparedText(
  ({ id, playerId, generation, now, graceMs, hostNow }: FamilyStep & { hostNow: Date }) => {
    // One clock for all hosts, whose own ones may differ by more than the grace: a second tab is not a thief.
    const shared = sql`(${now}::timestamptz + (clock_timestamp() - ${hostNow}::timestamptz))`;
    return sql<Omit<SteppedFamily, "endsAt"> & { endsAtMs: number }>`
      update token_families f set
        generation = case when f.generation = ${generation}::int then f.generation + 1
          else f.generation end,
        rotated_at = case when f.generation = ${generation}::int then ${shared}
          else f.rotated_at end,
        revoked_at = case
          when f.generation = ${generation}::int then null
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
        (extract(epoch from f.ends_at) * 1000)::float8 as "endsAtMs", f.realm`;
  },
);

/**
 * One refresh, in one statement, so that of any number at once exactly one rotates (TOK-04): the
 * current generation moves on, the one before is accepted for the grace, any other ends the family.
 * Null when the family is unknown, ended, or its player can no longer use it.
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
 * Ends every session of a player, but for `keep` when it is given (TOK-08). Call it in a transaction:
 * whoever signs in changes the player's row, so a session comes before this or after it.
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

/** An open session, with when its player last showed credentials: null when nobody did. */
export interface OpenSignIn {
  authenticatedAtMs: number | null;
  /** Null also for a session from before sign-ins were numbered. */
  signInNumber: number | null;
}

/** An open session of this player, or null; no sign-in is later than the session it opened. */
export function findOpenSignIn(
  em: EntityManager,
  { id, playerId, now }: { id: string; playerId: number; now: Date },
): Promise<OpenSignIn | null> {
  return findRow(em, (db) =>
    db
      .selectFrom("token_families")
      .select([
        sql<number | null>`case when authenticated_at is not null then
          (extract(epoch from least(authenticated_at, created_at)) * 1000)::float8 end`.as(
          "authenticatedAtMs",
        ),
        "sign_in_number as signInNumber",
      ])
      .where("id", "=", id)
      .where("player_id", "=", playerId)
      .where("revoked_at", "is", null)
      .where("ends_at", ">", now),
  );
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

/** Sessions a token may still exist of, the latest used first (TOK-08). */
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

/** Ends one session of a player; false when it is not an open one of theirs. */
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

/** Sessions of a player that have not ended, guests' too. */
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
