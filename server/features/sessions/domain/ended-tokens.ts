import type { EntityManager } from "@mikro-orm/postgresql";
import { isTokenUsed, useToken } from "../../../../db/queries/sessions/used-tokens.ts";

/** Tokens that have ended before their expiry, in a table whose expired rows are deleted. */
export const endedTokens = {
  has: (em: EntityManager, id: string): Promise<boolean> => isTokenUsed(em, id),
  add: (em: EntityManager, id: string, expiresAt: Date): Promise<boolean> =>
    useToken(em, id, expiresAt),
};
