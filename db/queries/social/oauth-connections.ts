import type { EntityManager } from "@mikro-orm/postgresql";
import { PlayerSchema, type Player } from "../../entities/player.ts";
import { inShare } from "../../shared-entity-manager.ts";
import { millis } from "../expressions.ts";
import { changeRows, findRow, findRows } from "../rows.ts";

export interface ConnectionKey {
  provider: string;
  subject: string;
}

export interface Connection extends ConnectionKey {
  playerId: number;
  name: string | null;
  avatarUrl: string | null;
  /** The session that linked it; unchanged when the link is renewed. */
  linkedBy?: string | null;
}

/** The player linked to a provider login, whether the account is open or not. */
export async function findConnectedPlayer(
  em: EntityManager,
  { provider, subject }: ConnectionKey,
): Promise<number | null> {
  const row = await findRow(em, (db) =>
    db
      .selectFrom("oauth_connections")
      .select("player_id")
      .where("provider", "=", provider)
      .where("subject", "=", subject),
  );
  return row?.player_id ?? null;
}

/** The player with this address, including closed accounts, whose address stays reserved (USR-09). */
export function findAddressHolder(em: EntityManager, emailKey: string): Promise<Player | null> {
  return inShare(em, () => em.findOne(PlayerSchema, { emailKey }));
}

/**
 * Creates or renews a link. A login linked to another player, or a second login of the same provider,
 * violates a constraint.
 */
export async function saveConnection(
  em: EntityManager,
  { playerId, provider, subject, name, avatarUrl, linkedBy = null }: Connection,
  now: Date,
): Promise<boolean> {
  const numSaved = await changeRows(em, (db) =>
    db
      .insertInto("oauth_connections")
      .values({
        player_id: playerId,
        provider,
        subject,
        name,
        avatar_url: avatarUrl,
        linked_at: now,
        linked_by: linkedBy,
      })
      .onConflict((conflict) =>
        conflict
          .columns(["provider", "subject"])
          .doUpdateSet((eb) => ({
            // Apple tells it at the first sign-in only.
            name: eb.fn.coalesce("excluded.name", "oauth_connections.name"),
            avatar_url: eb.ref("excluded.avatar_url"),
          }))
          .whereRef("oauth_connections.player_id", "=", "excluded.player_id"),
      ),
  );
  return numSaved > 0;
}

export interface ListedConnection {
  provider: string;
  name: string | null;
  avatarUrl: string | null;
  linkedAtMs: number;
}

/** The linked logins of an account, at most one per provider. */
export function listConnections(em: EntityManager, playerId: number): Promise<ListedConnection[]> {
  return findRows(em, (db) =>
    db
      .selectFrom("oauth_connections")
      .select(["provider", "name", "avatar_url as avatarUrl", millis("linked_at").as("linkedAtMs")])
      .where("player_id", "=", playerId)
      .orderBy("linked_at")
      .orderBy("id"),
  );
}

export async function deleteConnection(
  em: EntityManager,
  { playerId, provider }: { playerId: number; provider: string },
): Promise<boolean> {
  const numDeleted = await changeRows(em, (db) =>
    db
      .deleteFrom("oauth_connections")
      .where("player_id", "=", playerId)
      .where("provider", "=", provider),
  );
  return numDeleted > 0;
}
