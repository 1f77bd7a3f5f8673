import { setTimeout as pause } from "node:timers/promises";
import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { advisoryLocks } from "../../advisory-locks.ts";
import { findRow, findRows, rowsOf } from "../rows.ts";
import { readDirectory, type CodexGame } from "./codex-directory.ts";

/** How long a process keeps the list of games without a query (COD-22). */
export const gamesLeaseMs = 300;
/** Wait of a writer; longer than a lease, because timers are not exact. */
const publishMs = gamesLeaseMs + 50;

/**
 * To be awaited as the last step of a transaction that changes what clients of the archive read. From here to the
 * commit no process starts to keep a list of games, and those kept before have ended. So all processes answer with
 * the change from its commit on, without a message to any of them.
 */
export async function publish(em: EntityManager, signal?: AbortSignal): Promise<void> {
  await findRow(em, (db) =>
    db.selectNoFrom(
      sql`pg_advisory_xact_lock_shared(${advisoryLocks.archivePublishing}::int, 0)`.as("locked"),
    ),
  );
  await pause(publishMs, undefined, signal && { signal });
}

/**
 * The games by slug, and whether a process may keep the list for `gamesLeaseMs`. It reuses `held` if no game has
 * another name or generation. Statement by statement: the lock has to be read before the snapshot of the games is taken.
 */
export async function readLeasedGames(
  em: EntityManager,
  held: ReadonlyMap<string, CodexGame> | null,
): Promise<{ value: ReadonlyMap<string, CodexGame>; isLeased: boolean }> {
  // Raw SQL: a system view.
  const [row] = await rowsOf(
    em,
    sql<{ isPublishing: boolean }>`select exists (
      select 1 from pg_locks where locktype = 'advisory' and granted and objsubid = 2
        and classid = ${advisoryLocks.archivePublishing}::int
        and database = (select oid from pg_database where datname = current_database())
    ) as "isPublishing"`,
  );
  const isLeased = row?.isPublishing === false;
  if (held !== null && (await isUnchanged(em, held))) return { value: held, isLeased };
  const games = await readDirectory(em);
  return { value: new Map(games.map((game) => [game.slug, game])), isLeased };
}

/** Whether the games have the names and generations of `held`; each import and rebuild raises a generation. */
async function isUnchanged(
  em: EntityManager,
  held: ReadonlyMap<string, CodexGame>,
): Promise<boolean> {
  const rows = await findRows(em, (db) =>
    db.selectFrom("codex_games").select(["slug", "display_name as displayName", "generation"]),
  );
  const isSame = ({ slug, displayName, generation }: (typeof rows)[number]) => {
    const known = held.get(slug);
    return known?.generation === generation && known.displayName === displayName;
  };
  return rows.length === held.size && rows.every(isSame);
}
