/**
 * The parts that two versions run beside each other in `two-versions.deep.test.ts`: lobbies and streams.
 * `record-lobbies.ts` bundles this file against another checkout, so every import must exist there too.
 */
export { createLobbies, eventChannel, eventStreamKey } from "../../actors/index.ts";
export { systemClock } from "../../server/platform/time/clock.ts";
export { parseConfig } from "../../server/platform/config/config.ts";
export { silentLogger } from "../../server/platform/log/logger.ts";
export { createMetrics } from "../../server/platform/metrics/metrics.ts";
export { createHub } from "../../server/sse/delivery/create-hub.ts";
export { parseTopic } from "../../server/sse/topics/topics.ts";
