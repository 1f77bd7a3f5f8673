import { shardOf } from "../../actors/log/keys.ts";
import { lobbyKeyspace } from "../../actors/lobby/keys.ts";
import { parseOwner } from "../../actors/cluster/owners.ts";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { connectRedis, redisReady } from "../../server/platform/redis/redis.ts";
import { createLobby, joinLobby, newPlayer, type Player } from "../../test/support/player.ts";
import type { Service } from "../../test/support/process.ts";
import { openGenerator, requestText, type Generator, type Job } from "../load.ts";

export const connections = 64;
export const echoPost = requestText("POST", "/", {
  headers: { "x-lobby-token": "x".repeat(300) },
  body: { selected_index: 1 },
});

const seatsPerLobby = 4;
/** Maximum number of unfinished lobbies hosted by a guest. */
const lobbiesPerHost = 10;
/** Lobbies created concurrently. */
const lanes = 8;
const lobbies = "/v1/games/trivia/lobbies";

export interface BenchSeat {
  code: string;
  token: string;
}

/** Creates waiting lobbies that contain only their host. */
export async function makeLobbies(
  url: string,
  count: number,
  settings: Record<string, unknown> = {},
): Promise<{ host: Player; code: string; token: string }[]> {
  const made: { host: Player; code: string; token: string }[] = [];
  const lane = async () => {
    let host: Player | null = null;
    for (let n = 0; made.length < count; n++) {
      if (!host || n % lobbiesPerHost === 0) host = await newPlayer(url, `Host ${made.length}`);
      const code = await createLobby(host, { category: "science", ...settings });
      if (made.length < count) made.push({ host, code, token: host.lobbyToken });
    }
  };
  await Promise.all(Array.from({ length: Math.min(lanes, count) }, lane));
  return made;
}

/** Starts co-op lobbies on their first question, which stays open for a minute. */
export async function startGames(service: Service, count: number): Promise<BenchSeat[]> {
  const guests = await Promise.all(
    Array.from({ length: seatsPerLobby - 1 }, (_, i) => newPlayer(service.url, `Bench ${i}`)),
  );
  const settings = { mode: "coop", numQuestions: 1, timer: 60, maxPlayers: seatsPerLobby };
  const made = await makeLobbies(service.url, count, settings);
  const seats: BenchSeat[] = made.map(({ code, token }) => ({ code, token }));
  for (const guest of guests)
    for (const { code } of made) {
      await joinLobby(guest, code);
      seats.push({ code, token: guest.lobbyToken });
    }
  await Promise.all(
    made.map(async ({ host, code, token }) => {
      const headers = { "x-lobby-token": token };
      const started = await host.call("POST", `${lobbies}/${code}/start`, undefined, headers);
      if (started.status !== 200) throw new Error(`start: ${started.status} ${started.code}`);
    }),
  );
  return seats;
}

/** A pick of any choice is committed and published each time. */
export function pickJob(seat: BenchSeat | undefined): Job {
  if (!seat) return { request: "" };
  return {
    request: requestText("POST", `${lobbies}/${seat.code}/pick`, {
      headers: { "x-lobby-token": seat.token },
      body: { selected_index: 1 },
    }),
  };
}

export const openFor = (service: Service, count = connections): Promise<Generator> => {
  const { hostname, port } = new URL(service.url);
  return openGenerator(hostname, Number(port), count);
};

/** One pick per connection, in lobbies owned by the connection's process or by another one. */
export async function placedPicks(
  service: Service,
  generator: Generator,
  seats: BenchSeat[],
  isLocal: boolean,
): Promise<Job[]> {
  const owners = await ownerPids(service, seats);
  return generator.requestIds.map((requestId, i) => {
    const pid = pidOfRequest(requestId);
    const fitting = seats.filter((seat) => (owners.get(seat.code) === pid) === isLocal);
    return pickJob(fitting[(i * 7) % fitting.length]);
  });
}

/** One pick per connection, in any lobby. */
export const anyPicks = (generator: Generator, seats: BenchSeat[]): Job[] =>
  generator.requestIds.map((_, i) => pickJob(seats[(i * 7) % seats.length]));

/** Code -> pid of the lobby's owner, from the owner records and the primary's list of processes. */
async function ownerPids(service: Service, seats: BenchSeat[]): Promise<Map<string, number>> {
  const pids = new Map(
    (await service.processes()).map(({ incarnation, pid }) => [incarnation, pid]),
  );
  const redis = connectRedis(service.redisUrl, silentLogger, "bench");
  await redisReady(redis);
  const owners = new Map<string, number>();
  for (const { code } of seats) {
    const owner = parseOwner(await redis.get(lobbyKeyspace.owner(shardOf(code))));
    owners.set(code, pids.get(owner?.nodeId ?? "") ?? 0);
  }
  redis.disconnect();
  return owners;
}

/** Request ids begin with the pid of the process that generated them, in base 36. */
const pidOfRequest = (requestId: string) => Number.parseInt(requestId.split("-")[0] ?? "", 36);
