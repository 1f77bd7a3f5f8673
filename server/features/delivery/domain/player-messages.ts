import type { EntityManager } from "@mikro-orm/postgresql";
import { addressOf } from "../../../platform/text/account-names.ts";
import { existingAccount } from "../../accounts/domain/accounts.ts";
import { viewMessages, type MessageFilter, type OperatorMessage } from "./outbox.ts";

/** Messages to the present address and number of a player; `player:not_found` for an unknown one. */
export async function viewPlayerMessages(
  em: EntityManager,
  playerId: number,
  page: Pick<MessageFilter, "limit" | "cursor">,
  hasContent: boolean,
): Promise<{ name: string; messages: OperatorMessage[] }> {
  const player = await existingAccount(em, playerId);
  const recipients = [addressOf(player), player.phone ?? null].filter((to) => to !== null);
  const filter = { ...page, kind: null, to: null, recipients };
  return { name: player.name, messages: await viewMessages(em, filter, hasContent) };
}
