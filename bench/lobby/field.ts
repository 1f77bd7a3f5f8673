import { shardOf } from "../../actors/log/keys.ts";
import { lobbyKeyspace } from "../../actors/lobby/keys.ts";
import { parseOwner } from "../../actors/cluster/owners.ts";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { connectRedis, redisReady } from "../../server/platform/redis/redis.ts";
import { createLobby, joinLobby, newPlayer, type Player } from "../../test/support/player.ts";
import type { Service } from "../../test/support/process.ts";
import type { ClosedGenerator } from "../closed/generator.ts";
import { requestText } from "../raw-request.ts";

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
export const pickRequest = ({ code, token }: BenchSeat): string =>
  requestText("POST", `${lobbies}/${code}/pick`, {
    headers: { "x-lobby-token": token },
    body: { selected_index: 1 },
  });

/** One pick per connection, in lobbies that another process owns. */
export async function forwardedPicks(
  service: Service,
  { requestIds }: ClosedGenerator,
  seats: BenchSeat[],
): Promise<(string | null)[]> {
  const owners = await ownerPids(service, seats);
  return requestIds.map((requestId, i) => {
    const pid = pidOfRequest(requestId);
    return pickIn(
      seats.filter(({ code }) => owners.get(code) !== pid),
      i,
    );
  });
}

/** One pick per connection, in any lobby. */
export const anyPicks = ({ requestIds }: ClosedGenerator, seats: BenchSeat[]): (string | null)[] =>
  requestIds.map((_, i) => pickIn(seats, i));

function pickIn(seats: readonly BenchSeat[], connection: number): string | null {
  const seat = seats[(connection * 7) % seats.length];
  return seat ? pickRequest(seat) : null;
}

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
