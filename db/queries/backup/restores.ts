import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { RestoreSchema, type Restore } from "../../entities/restore.ts";
import { endOfRestore } from "../../backup/unfinished-restore.ts";
import { changeRows, findRows, rowsOf } from "../rows.ts";

/** A sequence, and the number to which it is advanced. */
export interface AdvancedSequence {
  name: string;
  /** Its last number now; one before its first if it was never used. */
  last: number;
  next: number;
  isExhausted: boolean;
}

/** What advancing every sequence of the service by at least `numIds` gives. */
export function planSequences(em: EntityManager, numIds: number): Promise<AdvancedSequence[]> {
  // Raw SQL: the state of every sequence.
  return rowsOf(
    em,
    sql<AdvancedSequence>`select name, last::float8 as last, next::float8 as next, next > max_value as "isExhausted"
      from (select sequencename::text as name, max_value, coalesce(last_value, start_value - increment_by) as last,
          coalesce(last_value, start_value - increment_by)
            + ceil(${numIds}::numeric / increment_by) * increment_by as next
        from pg_sequences where schemaname = 'public') planned order by name`,
  );
}

export async function advanceSequences(
  em: EntityManager,
  planned: readonly AdvancedSequence[],
): Promise<void> {
  // Raw SQL: sequences have no rows.
  for (const { name, next } of planned)
    await rowsOf(
      em,
      sql`select setval(format('public.%I', ${name}::text)::regclass, ${next}::bigint)`,
    );
}

/** The sequence of players' ids. */
export const playerSequence = "players_id_seq";

/** Voids everything that works once: its use since the backup is not known. */
export async function voidOneTimeCredentials(em: EntityManager): Promise<void> {
  await changeRows(em, (db) => db.updateTable("sign_in_codes").set({ expires_at: new Date(0) }));
  await changeRows(em, (db) => db.updateTable("phone_codes").set({ is_spent: true }));
  await changeRows(em, (db) => db.deleteFrom("password_resets"));
  await changeRows(em, (db) => db.deleteFrom("credential_requests"));
}

/** Ends every open session, or those of consents only. Returns their number. */
export function endSessions(
  em: EntityManager,
  { now, consentsOnly }: { now: Date; consentsOnly: boolean },
): Promise<number> {
  return changeRows(em, (db) => {
    const open = db
      .updateTable("token_families")
      .set({ revoked_at: now })
      .where("revoked_at", "is", null)
      .where("ends_at", ">", now);
    return consentsOnly ? open.where("method", "=", "consent") : open;
  });
}

export type NewRestore = Omit<Restore, "id">;

/** Records the restore and ends it, with the transaction. */
export async function finishRestore(em: EntityManager, restore: NewRestore): Promise<void> {
  await em.insert(RestoreSchema, restore);
  // Raw SQL: a table that is no entity.
  await rowsOf(em, sql.raw(endOfRestore));
}

/** Ids of players from `from` on, below `below`. */
export interface LostIds {
  from: number;
  below: number;
}

/** Ids of players that restores have skipped, newest first. */
export function listLostIds(em: EntityManager, limit: number): Promise<LostIds[]> {
  return findRows(em, (db) =>
    db
      .selectFrom("restores")
      .select(["lost_from as from", "lost_below as below"])
      .orderBy("id", "desc")
      .limit(limit),
  );
}
