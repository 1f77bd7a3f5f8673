import type { RoomSource } from "../../server/platform/room-source.ts";
import { lobbyKeyPrefix } from "./actor.ts";
import { lobbyDelivery } from "./delivery.ts";
import { indexKeys, Keyspace } from "../log/keys.ts";

/** Keys and channels of the lobbies; unchanged since the first release. */
export const lobbyKeyspace = new Keyspace(lobbyKeyPrefix);

export const {
  owner: ownerKey,
  epoch: epochKey,
  due: dueKey,
  history: historyKey,
  owners: ownersKey,
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

/** What a hub needs of lobbies owned by other processes, except snapshots. */
export const lobbyRoom: Omit<RoomSource, "snapshotOf"> = {
  keyPrefix: lobbyKeyPrefix,
  keys: lobbyKeyspace,
  delivery: lobbyDelivery,
};

/** Channel of changes to the list of public lobbies. */
export const publicListChannel = "lobbies";
export const {
  entries: publicListKey,
  order: publicOrderKey,
  removed: unlistedKey,
} = indexKeys(publicListChannel);
