import { lobbyKeyPrefix } from "./actor.ts";
import { Keyspace } from "../log/keys.ts";

/** Keys and channels of the lobbies; unchanged since the first release. */
export const lobbyKeyspace = new Keyspace(lobbyKeyPrefix);
