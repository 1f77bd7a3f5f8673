import { lobbyKeyspace } from "../../actors/index.ts";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { connectRedis } from "../../server/platform/redis/redis.ts";
import { openStreams } from "./http-link.ts";
import type { OpenRoom } from "./links.ts";

const keptMessages = 256;
let redis: ReturnType<typeof connectRedis> | null = null;

/**
 * Events published to Redis as the commit of a command does, for a hub whose lobby another process owns. The command of
 * the room is its message; the room is new, so its events are numbered from 1.
 */
export const openPublishedRoom: OpenRoom = async (port, spec, callbacks) => {
  const store = (redis ??= connectRedis(process.env["REDIS_URL"] ?? "", silentLogger, "bench"));
  const code = /\w+$/.exec(spec.streamPath)?.[0] ?? "";
  await openStreams(port, spec, callbacks);
  let seq = 0;
  return {
    send() {
      const text = `${++seq}\n${spec.command}`;
      const batch = store.pipeline();
      batch.xadd(lobbyKeyspace.stream(code), "MAXLEN", "~", keptMessages, `${seq}-0`, "d", text);
      batch.publish(lobbyKeyspace.channel(code), text);
      batch.exec().then(
        () => callbacks.onAnswer(true),
        () => callbacks.onAnswer(false),
      );
    },
  };
};
