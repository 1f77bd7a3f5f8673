import type { Lobbies } from "../../../../actors/index.ts";
import type { HubRooms } from "../../../../server/features/hub/deps.ts";
import { hubRoutes } from "../../../../server/features/hub/routes.ts";
import { lobbyAccess, lobbyRooms } from "../../../../server/features/lobbies/rooms.ts";
import { silentLogger } from "../../../../server/platform/log/logger.ts";
import { Hub } from "../../../../server/sse/delivery/hub.ts";
import type { HubLimits } from "../../../../server/sse/delivery/limits.ts";
import type { SampleServer } from "../../http/sample.ts";
import type { LobbyLog } from "../../sse/lobby-log.ts";
import { publicListChannel } from "../../../support/lobby-keys.ts";
import { lobbyRoom } from "../../../support/lobby-room.ts";

export interface HubOfSample {
  publicList?: () => Promise<string>;
  limits?: Partial<HubLimits>;
}

/** A hub on the Redis of a sample service; its lobbies are event streams written by the test. */
export function hubOf(
  { deps, store }: SampleServer,
  log: LobbyLog,
  { publicList = async () => "[]", limits = {} }: HubOfSample = {},
): Hub {
  const { config, clock, metrics } = deps;
  return new Hub({
    config,
    log: silentLogger,
    clock,
    metrics,
    faults: deps.faults,
    redisUrl: store.url,
    rooms: { lobby: { ...lobbyRoom, snapshotOf: log.snapshotOf } },
    lists: { lobbies: { channel: publicListChannel, read: publicList } },
    limits,
  });
}

/** A hub with lobbies only. */
export const lobbyHubRoutes = hubRoutes({ lobbies: lobbyRooms });

/** Lobbies with these answers. */
export const roomsThat = (ask: Lobbies["ask"]): HubRooms => ({
  topicNames: { rooms: ["lobby"], lists: ["lobbies"] },
  accessTo: () => lobbyAccess({ ask }),
  ownerPort: () => null,
});

/** The lobby runtime has its own tests: here every seat is taken. */
export const allSeatsTaken = roomsThat(async () => ({ ok: true, body: null }));
