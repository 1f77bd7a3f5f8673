import type { Service } from "../../test/support/process.ts";
import type { BenchSeat } from "../lobby/field.ts";
import { pidsOf } from "../service.ts";
import type { Peer } from "./peer.ts";

/** Lobbies of the complete service as topics, with one seat each whose token opens the streams. */
export async function lobbyPeer(service: Service, made: BenchSeat[]): Promise<Peer> {
  const tokens = new Map<string, string>();
  const lanes = Array.from({ length: 8 }, async (_, lane) => {
    for (const { code, token } of made.filter((__, n) => n % 8 === lane))
      tokens.set(code, await hubToken(service.url, code, token));
  });
  await Promise.all(lanes);
  const { pids, redisPids } = await pidsOf(service);
  return {
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
    stop: async () => undefined,
  };
}

async function hubToken(url: string, code: string, lobbyToken: string): Promise<string> {
  const answer = await fetch(`${url}/v1/games/trivia/lobbies/${code}/token`, {
    method: "POST",
    headers: { "x-lobby-token": lobbyToken },
  });
  return answer.headers.get("x-hub-token") ?? "";
}
