import type { EntityManager } from "@mikro-orm/postgresql";
import { searchForOperator } from "../../../../db/queries/accounts/accounts.ts";
import { maxId } from "../../../platform/ids.ts";
import { addressOf, foldName, normalizeEmail } from "../../../platform/text/account-names.ts";

/** A player that an operator looked for. */
export interface FoundPlayer {
  id: number;
  name: string;
  /** In full: mask it for those who may see a part only. */
  email: string | null;
  isGuest: boolean;
  isClosed: boolean;
}

export const maxFoundPlayers = 20;
/** Longer than any name or address. */
const maxSearchText = 320;

/** Players with this id, name or address, whatever its case; closed accounts included. */
export async function findPlayers(em: EntityManager, text: string): Promise<FoundPlayer[]> {
  const wanted = text.trim();
  if (wanted === "" || wanted.length > maxSearchText || /\p{Cc}/u.test(wanted)) return [];
  const players = await searchForOperator(em, keysOf(wanted), maxFoundPlayers);
  return players.map((player) => ({
    id: player.id,
    name: player.name,
    email: addressOf(player),
    isGuest: player.isGuest,
    isClosed: player.deletedAt != null,
  }));
}

function keysOf(text: string) {
  const emailKey = normalizeEmail(text);
  if (emailKey !== null) return [{ emailKey }];
  const isId = /^[1-9]\d{0,9}$/.test(text) && Number(text) <= maxId;
  return [{ nameKey: foldName(text) }, ...(isId ? [{ id: Number(text) }] : [])];
}
