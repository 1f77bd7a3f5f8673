import type { RoomSource } from "../../server/platform/room-source.ts";
import { lobbyKeyPrefix } from "./actor.ts";
import { lobbyDelivery } from "./delivery.ts";
import { Keyspace } from "../log/keys.ts";

/** Keys and channels of the lobbies; unchanged since the first release. */
export const lobbyKeyspace = new Keyspace(lobbyKeyPrefix);

/** What a hub needs of lobbies owned by other processes, except snapshots. */
export const lobbyRoom: Omit<RoomSource, "snapshotOf"> = {
  keyPrefix: lobbyKeyPrefix,
  keys: lobbyKeyspace,
  delivery: lobbyDelivery,
};
