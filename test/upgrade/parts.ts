/**
 * The parts that two versions run beside each other in `two-versions.deep.test.ts`: lobbies and streams.
 * `record-lobbies.ts` bundles this file against another checkout, so every import must exist there too.
 */
import { lobbyKeyspace } from "../../actors/index.ts";
import { Hub, type HubDeps } from "../../server/sse/delivery/hub.ts";

export { createLobbies } from "../../actors/index.ts";
export const { channel: eventChannel, stream: eventStreamKey } = lobbyKeyspace;
export { systemClock } from "../../server/platform/time/clock.ts";
export { parseConfig } from "../../server/platform/config/config.ts";
export { silentLogger } from "../../server/platform/log/logger.ts";
export { createMetrics } from "../../server/platform/metrics/metrics.ts";
export const createHub = (deps: HubDeps): Hub => new Hub(deps);
export { parseTopic } from "../../server/sse/topics/topics.ts";
