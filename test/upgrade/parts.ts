/**
 * What two versions run beside each other in `two-versions.test.ts`: the lobbies and the streams. `record-lobbies.ts` bundles
 * this file against another checkout, so every import must exist there, too.
 */
export { createLobbies, eventChannel, eventStreamKey } from "../../actors/index.ts";
export { systemClock } from "../../server/core/clock.ts";
export { parseConfig } from "../../server/core/config.ts";
export { silentLogger } from "../../server/core/logger.ts";
export { createMetrics } from "../../server/core/metrics.ts";
export { createHub } from "../../server/sse/create-hub.ts";
export { parseTopic } from "../../server/sse/topics.ts";
