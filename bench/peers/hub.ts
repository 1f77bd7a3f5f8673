import { randomBytes } from "node:crypto";
import { systemClock } from "../../server/platform/time/clock.ts";
import { parseConfig } from "../../server/platform/config/config.ts";
import { childFlags } from "../../server/platform/config/node-flags.ts";
import { createTokenService } from "../../server/platform/security/tokens.ts";
import { cpuMicros } from "../processes.ts";
import type { Side } from "../rooms/side.ts";
import { startRemote } from "../rpc.ts";
import { startRedis } from "../stores.ts";
import { eventMessage } from "./event-message.ts";
import type { HubCalls } from "./hub-process.ts";
import { topicCode } from "./topic-code.ts";

const tokenSeconds = 3_600;

/** This project's hub, with a Redis of its own. */
export async function withHub<T>(work: (side: Side) => Promise<T>): Promise<T> {
  const redis = await startRedis();
  try {
    const env = {
      APP_SECRET: randomBytes(32).toString("hex"),
      REDIS_URL: redis.url,
      RATE_LIMIT_FACTOR: "0",
      HUB_STREAMS_PER_ADDRESS: "1000000",
    };
    const tokens = createTokenService(parseConfig(env), systemClock);
    const remote = await startRemote<HubCalls>(new URL("./hub-process.ts", import.meta.url), {
      env,
      flags: [...childFlags],
    });
    const roomOf = (code: string, streams: number) => {
      const topic = `/games/trivia/lobby/${code}`;
      const claims = { subscribe: [topic], lobby: code, lobby_player: 1 };
      return {
        streams,
        streamPath: `/v1/hub?topic=${topic}`,
        streamHeaders: `Authorization: Bearer ${tokens.sign("hub", "0", tokenSeconds, claims)}\r\n`,
        command: JSON.stringify(eventMessage),
      };
    };
    try {
      return await work({
        name: "emberline",
        port: await remote.call("port"),
        protocol: "published",
        publishedTo: redis.url,
        rooms: async (count, streams) =>
          Array.from({ length: count }, (_, n) => roomOf(topicCode(n), streams)),
        cpu: () => ({ server: cpuMicros([remote.pid]), Redis: cpuMicros([redis.pid]) }),
        pids: () => ({ server: [remote.pid], Redis: [redis.pid] }),
      });
    } finally {
      await remote.stop();
    }
  } finally {
    await redis.stop();
  }
}
