import { lobbyKeyPrefix } from "./lobby/actor.ts";

/**
 * Key prefixes of all kinds of actor that the service runs. The primary runs none of them, and has to know them when it
 * starts Redis: it notes for each shard of each kind that nothing was lost.
 */
export const actorKeyPrefixes: readonly string[] = [lobbyKeyPrefix];
