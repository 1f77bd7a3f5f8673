import type { RoomSource } from "../server/platform/room-source.ts";
import { lobbyKeyPrefix } from "./lobby/actor.ts";
import { lobbyDelivery } from "./lobby/delivery.ts";
import { indexKeys, Keyspace } from "./runtime/storage/keys.ts";

/** Keys and channels of the lobbies, as every release has written them. */
export const lobbyKeyspace = new Keyspace(lobbyKeyPrefix);

export const {
  owner: ownerKey,
  epoch: epochKey,
  due: dueKey,
  history: historyKey,
  state: lobbyKey,
  stream: eventStreamKey,
  channel: eventChannel,
  workerChannel,
  workers: workersKey,
  leaving: leavingKey,
  ports: portsKey,
  deadChannel,
  mapChannel,
} = lobbyKeyspace;

/** What a hub needs of lobbies that are not in this process, but for their snapshots. */
export const lobbyRoom: Omit<RoomSource, "snapshotOf"> = {
  keyPrefix: lobbyKeyPrefix,
  keys: lobbyKeyspace,
  delivery: lobbyDelivery,
};

/** The list of public lobbies, and the channel of its changes. */
export const publicListChannel = "lobbies";
export const {
  entries: publicListKey,
  order: publicOrderKey,
  removed: unlistedKey,
} = indexKeys(publicListChannel);
