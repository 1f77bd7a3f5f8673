import { lobbyDelivery } from "../../actors/lobby/delivery.ts";
import { lobbyKeyspace } from "../../actors/lobby/keys.ts";
import type { RoomSource } from "../../server/platform/room-source.ts";

/** What a hub needs of lobbies that all belong to other processes, except snapshots. */
export const lobbyRoom: Omit<RoomSource, "snapshotOf"> = {
  keyPrefix: "",
  keys: lobbyKeyspace,
  delivery: lobbyDelivery,
  commits: { follow: () => false, unfollow: () => undefined },
};
