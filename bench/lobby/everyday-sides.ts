import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Service } from "../../test/support/process.ts";
import { cpuMicros, treeMicros, treePids } from "../processes.ts";
import { requestText } from "../load.ts";
import type { Protocol } from "../open-load/process.ts";
import type { RoomSpec } from "../open-load/links.ts";
import type { FloorCalls } from "../peers/floor-process.ts";
import { lobbyPeer } from "../peers/service.ts";
import { startRemote } from "../rpc.ts";
import { pidsOf, withService } from "../service.ts";
import { startRedis } from "../stores.ts";
import { mapValues, type Amounts } from "./amounts.ts";
import { pickJob, startGames, type BenchSeat } from "./field.ts";

/** A server under everyday load. */
export interface Side {
  name: string;
  port: number;
  protocol: Protocol;
  /** Rooms for one run. A question is open for a minute, so every run needs new games. */
  rooms(count: number, streams: number): Promise<RoomSpec[]>;
  /** CPU time in microseconds so far, by process role. */
  cpu(): Amounts;
  /** Running processes by role. */
  pids(): Record<string, number[]>;
  /** Role of the processes that respond to clients. */
  servedBy: string;
  /** Null for a side without Redis. */
  redisUrl: string | null;
}

export const floorName = "floor";
const pickBody = { selected_index: 1 };

/** The floor, with its own Redis. */
export async function withFloor<T>(work: (side: Side) => Promise<T>): Promise<T> {
  const redis = await startRedis();
  const file = new URL("../peers/floor-process.ts", import.meta.url);
  let numRuns = 0;
  try {
    const remote = await startRemote<FloorCalls>(file, { args: [redis.url] });
    try {
      const pids = { server: [remote.pid], Redis: [redis.pid] };
      return await work({
        name: floorName,
        port: await remote.call("port"),
        protocol: "http",
        async rooms(count, streams) {
          numRuns += 1;
          return Array.from({ length: count }, (_, n) => {
            const room = `${numRuns}-${n}`;
            const command = requestText("POST", `/command?room=${room}`, { body: pickBody });
            return { streams, streamPath: `/events?room=${room}`, streamHeaders: "", command };
          });
        },
        cpu: () => mapValues(pids, cpuMicros),
        pids: () => pids,
        servedBy: "server",
        redisUrl: redis.url,
      });
    } finally {
      await remote.stop();
    }
  } finally {
    await redis.stop();
  }
}

export interface ServiceSide {
  name: string;
  /** Number of HTTP workers. */
  workers: number;
  /** Folder of another checkout. */
  root?: string;
  env?: Record<string, string>;
  /** Commands and streams of a lobby are sent to the port of the worker that owns it. */
  isFollowed?: boolean;
  /** Most processor time of a command, as a multiple of the floor's. */
  aim?: number;
}

/** The complete service, from this checkout or another one. */
export function withServiceSide<T>(
  { name, workers, root, env = {}, isFollowed = false }: ServiceSide,
  work: (side: Side) => Promise<T>,
): Promise<T> {
  const settings = isFollowed ? { ...env, WORKER_PORTS: "auto" } : env;
  const measured = async (service: Service) => work(await sideOf(name, service, isFollowed));
  return withService(workers, measured, settings, root);
}

async function sideOf(name: string, service: Service, isFollowed: boolean): Promise<Side> {
  const processes = await readProcesses(service);
  let hosts: BenchSeat[] = [];
  return {
    name,
    port: Number(new URL(service.url).port),
    protocol: "http",
    ...processes,
    servedBy: roleNames.http,
    redisUrl: service.redisUrl,
    async rooms(count, streams) {
      // Otherwise all games would end a minute after their start, in the middle of a later run.
      await Promise.all(hosts.map((seat) => leave(service, seat)));
      const seats = (await startGames(service, count)).slice(0, count);
      hosts = seats;
      const peer = await lobbyPeer(service, seats);
      return Promise.all(
        seats.map(async (seat) => {
          const { path, headers } = peer.stream(seat.code, 0);
          return {
            streams,
            streamPath: path,
            streamHeaders: headers,
            command: pickJob(seat).request,
            ...(isFollowed && { port: await ownerPort(service, seat) }),
          };
        }),
      );
    },
  };
}

/** The owner's port from the responses about a lobby, as a client gets it. */
async function ownerPort(service: Service, { code, token }: BenchSeat): Promise<number> {
  const url = `${service.url}/v1/games/trivia/lobbies/${code}`;
  const answer = await fetch(url, { headers: { "x-lobby-token": token } });
  await answer.arrayBuffer();
  const port = Number(answer.headers.get("x-owner-port"));
  if (port > 0) return port;
  throw new Error(`no port of the owner is named: ${answer.status}`);
}

/** A game ends when its host leaves. */
async function leave(service: Service, { code, token }: BenchSeat): Promise<void> {
  const url = `${service.url}/v1/games/trivia/lobbies/${code}/leave`;
  await (await fetch(url, { method: "POST", headers: { "x-lobby-token": token } })).arrayBuffer();
}

/** Every process of the service by role; Redis and the process tree of Postgres separately. */
async function readProcesses(service: Service): Promise<Pick<Side, "cpu" | "pids">> {
  const { redisPids } = await pidsOf(service);
  const postmaster = readFileSync(join(service.dataDir, "postgres/postmaster.pid"), "utf8");
  const postgresPid = Number(postmaster.split("\n")[0]);
  const pids: Record<string, number[]> = { primary: [service.pid] };
  for (const { role, pid } of await service.processes()) (pids[roleNames[role]] ??= []).push(pid);
  pids["Redis"] = redisPids;
  return {
    cpu: () => ({ ...mapValues(pids, cpuMicros), Postgres: treeMicros(postgresPid) }),
    pids: () => ({ ...pids, Postgres: treePids(postgresPid) }),
  };
}

const roleNames = { http: "HTTP workers", jobs: "job workers", operator: "operator" } as const;
