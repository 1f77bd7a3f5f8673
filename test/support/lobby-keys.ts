import { lobbyKeyspace } from "../../actors/lobby/keys.ts";
import { indexKeys } from "../../actors/log/keys.ts";

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

/** Channel of changes to the list of public lobbies. */
export const publicListChannel = "lobbies";
export const {
  entries: publicListKey,
  order: publicOrderKey,
  removed: unlistedKey,
} = indexKeys(publicListChannel);
