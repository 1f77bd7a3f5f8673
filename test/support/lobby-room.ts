import { lobbyDelivery } from "../../actors/lobby/delivery.ts";
import { lobbyKeyspace } from "../../actors/lobby/keys.ts";
import type { RoomSource } from "../../server/platform/room-source.ts";

/** What a hub needs of lobbies owned by other processes, except snapshots. */
export const lobbyRoom: Omit<RoomSource, "snapshotOf"> = {
  keyPrefix: "",
  keys: lobbyKeyspace,
  delivery: lobbyDelivery,
};
