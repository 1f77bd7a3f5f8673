import type { EntityManager } from "@mikro-orm/postgresql";
import { anyOf, isSet } from "../expressions.ts";
import { changeRows, findRows } from "../rows.ts";

export interface PendingCollision {
  playerId: number;
  keptPlayerId: number;
  address: string;
  locale: string;
  realm: string;
}

/** Locks collisions whose mailbox has not been notified, so that only one process notifies each. */
export function takePendingCollisions(
  em: EntityManager,
  limit: number,
): Promise<PendingCollision[]> {
  return findRows(em, (db) =>
    db
      .selectFrom("address_collisions as c")
      .innerJoin("players as p", "p.id", "c.player_id")
      .select([
        "c.player_id as playerId",
        "c.kept_player_id as keptPlayerId",
        "c.address",
        "p.locale",
        "p.realm",
      ])
      .where("c.notified_at", "is", null)
      .orderBy("c.player_id")
      .limit(limit)
      .forUpdate("c")
      .skipLocked(),
  );
}

export async function markNotified(
  em: EntityManager,
  playerIds: readonly number[],
  now: Date,
): Promise<void> {
  await changeRows(em, (db) =>
    db
      .updateTable("address_collisions")
      .set({ notified_at: now })
      .where("player_id", "=", anyOf(playerIds, "int")),
  );
}

export interface ListedCollision {
  playerId: number;
  name: string;
  typed: string | null;
  address: string;
  keptPlayerId: number;
  keptName: string;
  isNotified: boolean;
}

/** Accounts that lost their address to another account, for operators. */
export function listCollisions(em: EntityManager, limit: number): Promise<ListedCollision[]> {
  return findRows(em, (db) =>
    db
      .selectFrom("address_collisions as c")
      .innerJoin("players as p", "p.id", "c.player_id")
      .innerJoin("players as k", "k.id", "c.kept_player_id")
      .select([
        "c.player_id as playerId",
        "p.name",
        "p.email as typed",
        "c.address",
        "c.kept_player_id as keptPlayerId",
        "k.name as keptName",
        isSet("c.notified_at").as("isNotified"),
      ])
      .orderBy("c.player_id")
      .limit(limit),
  );
}
