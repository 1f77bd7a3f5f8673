import { randomBytes } from "node:crypto";
import { systemClock } from "../../server/platform/time/clock.ts";
import { parseConfig } from "../../server/platform/config/config.ts";
import { childFlags } from "../../server/platform/config/node-flags.ts";
import { createTokenService } from "../../server/platform/security/tokens.ts";
import { startRemote } from "../rpc.ts";
import type { BenchRedis } from "../stores.ts";
import type { HubCalls } from "./hub-process.ts";
import type { Peer } from "./peer.ts";

const tokenSeconds = 3_600;
let seats = 0;

/** This project's hub. */
export async function startHub(redis: BenchRedis): Promise<Peer> {
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
  const port = await remote.call("port");
  return {
    name: "emberline",
    port,
    target: { kind: "redis", url: redis.url },
    pids: [remote.pid],
    storePids: [redis.pid],
    readyText: "lobby.snapshot",
    stream(topic) {
      const name = `/games/trivia/lobby/${topic}`;
      const token = tokens.sign("hub", "0", tokenSeconds, {
        subscribe: [name],
        lobby: topic,
        lobby_player: ++seats,
      });
      return {
        topic,
        path: `/v1/hub?topic=${name}`,
        headers: `Authorization: Bearer ${token}\r\n`,
      };
    },
    stop: () => remote.stop(),
  };
}
