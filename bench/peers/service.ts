import { silentLogger } from "../../server/platform/log/logger.ts";
import { connectRedis, redisReady } from "../../server/platform/redis/redis.ts";
import { eventStreamKey } from "../../actors/index.ts";
import type { Service } from "../../test/support/process.ts";
import type { BenchSeat } from "../lobby/field.ts";
import { pidsOf } from "../service.ts";
import type { Peer } from "./peer.ts";

export interface ServicePeer {
  peer: Peer;
  topics: string[];
  /** Newest event number of each topic. */
  numbers: Record<string, number>;
}

/** Lobbies of the complete service as topics, with one seat each whose token opens the streams. */
export async function lobbyPeer(service: Service, made: BenchSeat[]): Promise<ServicePeer> {
  const tokens = new Map<string, string>();
  const lanes = Array.from({ length: 8 }, async (_, lane) => {
    for (const { code, token } of made.filter((__, n) => n % 8 === lane))
      tokens.set(code, await hubToken(service.url, code, token));
  });
  await Promise.all(lanes);
  const { pids, redisPids } = await pidsOf(service);
  const topics = made.map(({ code }) => code);
  return {
    topics,
    numbers: await newestNumbers(service.redisUrl, topics),
    peer: {
      name: "emberline",
      port: Number(new URL(service.url).port),
      target: { kind: "redis", url: service.redisUrl },
      pids,
      storePids: redisPids,
      readyText: "lobby.snapshot",
      stream: (topic) => ({
        topic,
        path: `/v1/hub?topic=/games/trivia/lobby/${topic}`,
        headers: `Authorization: Bearer ${tokens.get(topic)}\r\n`,
      }),
      collect: async () => undefined,
      stop: async () => undefined,
    },
  };
}

async function hubToken(url: string, code: string, lobbyToken: string): Promise<string> {
  const answer = await fetch(`${url}/v1/games/trivia/lobbies/${code}/token`, {
    method: "POST",
    headers: { "x-lobby-token": lobbyToken },
  });
  return answer.headers.get("x-hub-token") ?? "";
}

async function newestNumbers(url: string, codes: string[]): Promise<Record<string, number>> {
  const redis = connectRedis(url, silentLogger, "bench");
  await redisReady(redis);
  const numbers: Record<string, number> = {};
  for (const code of codes) {
    const [newest] = await redis.xrevrange(eventStreamKey(code), "+", "-", "COUNT", 1);
    numbers[code] = newest ? Number.parseInt(newest[0], 10) : 0;
  }
  redis.disconnect();
  return numbers;
}
