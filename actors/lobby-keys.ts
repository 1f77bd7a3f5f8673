import { lobbyKeyPrefix } from "./lobby/actor.ts";
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
  deadChannel,
  mapChannel,
} = lobbyKeyspace;

/** The list of public lobbies, and the channel of its changes. */
export const publicListChannel = "lobbies";
export const {
  entries: publicListKey,
  order: publicOrderKey,
  removed: unlistedKey,
} = indexKeys(publicListChannel);
