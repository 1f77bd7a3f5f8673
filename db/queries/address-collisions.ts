import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { rowsOf } from "./rows.ts";

export interface PendingCollision {
  playerId: number;
  keptPlayerId: number;
  address: string;
  locale: string;
  realm: string;
}

/** Collisions whose mailbox was not notified yet, locked so that one process notifies each. */
export async function takePendingCollisions(
  em: EntityManager,
  limit: number,
): Promise<PendingCollision[]> {
  return rowsOf(
    em,
    sql<PendingCollision>`
      select c.player_id as "playerId", c.kept_player_id as "keptPlayerId", c.address, p.locale, p.realm
      from address_collisions c join players p on p.id = c.player_id
      where c.notified_at is null order by c.player_id limit ${limit} for update of c skip locked`,
  );
}

export async function markNotified(
  em: EntityManager,
  playerIds: readonly number[],
  now: Date,
): Promise<void> {
  await rowsOf(
    em,
    sql`update address_collisions set notified_at = ${now} where player_id = any(${[...playerIds]}::int[])`,
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

/** Accounts that lost their address to another, as an operator reads them. */
export async function listCollisions(em: EntityManager, limit: number): Promise<ListedCollision[]> {
  return rowsOf(
    em,
    sql<ListedCollision>`
      select c.player_id as "playerId", p.name, p.email as typed, c.address,
        c.kept_player_id as "keptPlayerId", k.name as "keptName", c.notified_at is not null as "isNotified"
      from address_collisions c join players p on p.id = c.player_id
        join players k on k.id = c.kept_player_id
      order by c.player_id limit ${limit}`,
  );
}
