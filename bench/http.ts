import { fork } from "node:child_process";
import { once } from "node:events";
import { ownerKey, shardOf } from "../actors/runtime/keys.ts";
import { parseOwner } from "../actors/runtime/placement.ts";
import { silentLogger } from "../server/core/logger.ts";
import { connectRedis, redisReady } from "../server/core/redis.ts";
import { createLobby, joinLobby, newPlayer, type Player } from "../test/support/player.ts";
import { startService, type Service } from "../test/support/process.ts";
import { cpuMicros } from "./cpu.ts";
import { openGenerator, requestText, type Generator, type Job } from "./load.ts";
import { printRows, type Row } from "./report.ts";

const connections = 64;
const seconds = Number(process.env["BENCH_SECONDS"] ?? 6);
const lobbyCount = 100;
const seatsPerLobby = 4;
const lobbies = "/v1/games/trivia/lobbies";

interface Measured {
  name: string;
  generator: Generator;
  jobs: Job[];
  pids: number[];
  redisPids: number[];
  perSecond?: number;
}

/** The HTTP stack and a committed lobby pick against raw uWebSockets.js, all in one run. */
export async function run(): Promise<void> {
  const echo = await startEcho();
  const measureEcho = async (name: string, request: string, perSecond?: number) => {
    // A fresh generator each time: idle connections are closed by the server after seconds.
    const generator = await openGenerator("127.0.0.1", echo.port, connections);
    const pace = perSecond === undefined ? {} : { perSecond };
    const row = await measure({
      name,
      generator,
      jobs: repeat(request),
      pids: [echo.pid],
      redisPids: [],
      ...pace,
    });
    generator.close();
    return row;
  };
  const get = requestText("GET", "/", { headers: { authorization: `Bearer ${"x".repeat(300)}` } });
  const post = requestText("POST", "/", {
    headers: { "x-lobby-token": "x".repeat(300) },
    body: { selected_index: 1 },
  });
  const echoGet = await measureEcho("raw echo GET", get);
  const echoPost = await measureEcho("raw echo POST", post);

  const [publicGet, authedGet, local] = await withService(1, async (service) => {
    const generator = await openFor(service);
    const one = async (name: string, request: string) =>
      measure({ name, generator, jobs: repeat(request), ...(await pidsOf(service)) });
    const player = await newPlayer(service.url, "Bench");
    const rows = [
      await one("public GET", requestText("GET", "/v1/games/trivia/categories")),
      await one(
        "authenticated GET",
        requestText("GET", "/v1/tokens/validate", {
          headers: { authorization: `Bearer ${player.accessToken}` },
        }),
      ),
    ];
    const jobs = pickJobs(await fillLobbies(service), () => true);
    rows.push(
      await measure({ name: "committed pick, local", generator, jobs, ...(await pidsOf(service)) }),
    );
    generator.close();
    return rows;
  });

  const [forwarded] = await withService(2, async (service) => {
    const generator = await openFor(service);
    const seats = await fillLobbies(service);
    const owners = await ownerPids(service, seats);
    // A connection picks only in lobbies that live in the other process.
    const jobs = generator.requestIds.map((requestId, i) => {
      const pid = pidOfRequest(requestId);
      const away = seats.filter((seat) => owners.get(seat.code) !== pid);
      return pickJob(away[i % away.length]);
    });
    const row = await measure({
      name: "committed pick, forwarded",
      generator,
      jobs,
      ...(await pidsOf(service)),
    });
    generator.close();
    return [row];
  });

  if (!publicGet || !authedGet || !local || !forwarded) throw new Error("a scenario is missing");
  // A send that wakes a sleeping reader costs several times one to a busy reader, so the ceiling is also
  // measured at the rate the committed picks reached.
  const pacedPost = await measureEcho(
    "raw echo POST, at the rate of local picks",
    post,
    local.perSecond,
  );
  echo.stop();
  printRows(
    `http: ${connections} connections, ${seconds} s each; worker us = CPU of the HTTP workers per request`,
    [
      { row: echoGet, against: echoGet, target: null },
      { row: publicGet, against: echoGet, target: 1.8 },
      { row: authedGet, against: echoGet, target: 1.8 },
      { row: echoPost, against: echoPost, target: null },
      { row: pacedPost, against: echoPost, target: null },
      { row: local, against: pacedPost, target: 3 },
      { row: forwarded, against: pacedPost, target: null },
    ],
  );
}

async function withService<T>(workers: number, work: (service: Service) => Promise<T>): Promise<T> {
  const service = await startService({
    env: {
      HTTP_WORKERS: String(workers),
      JOB_WORKERS: "1",
      RATE_LIMIT_FACTOR: "0",
      LOG_LEVEL: "info",
      LOBBY_MIN_QUESTION_MS: "0",
    },
  });
  try {
    return await work(service);
  } finally {
    await service.stop();
  }
}

async function startEcho(): Promise<{ port: number; pid: number; stop: () => void }> {
  const child = fork(new URL("./echo.ts", import.meta.url), [], { execArgv: ["--import", "tsx"] });
  const [{ port }] = (await once(child, "message")) as [{ port: number }];
  return { port, pid: child.pid ?? 0, stop: () => child.kill() };
}

const openFor = (service: Service) => {
  const { hostname, port } = new URL(service.url);
  return openGenerator(hostname, Number(port), connections);
};

const repeat = (request: string): Job[] => Array.from({ length: connections }, () => ({ request }));

async function measure({
  name,
  generator,
  jobs,
  pids,
  redisPids,
  perSecond,
}: Measured): Promise<Row> {
  await generator.run(jobs, 1, perSecond);
  const before = cpuMicros(pids);
  const redisBefore = cpuMicros(redisPids);
  const result = await generator.run(jobs, seconds, perSecond);
  const workerMicros = (cpuMicros(pids) - before) / result.requests;
  const redisMicros =
    redisPids.length === 0 ? null : (cpuMicros(redisPids) - redisBefore) / result.requests;
  process.stdout.write(`  ${name}: ${workerMicros.toFixed(1)} us\n`);
  const { p50Ms, p99Ms, statuses } = result;
  return { name, perSecond: result.perSecond, p50Ms, p99Ms, workerMicros, redisMicros, statuses };
}

interface BenchSeat {
  code: string;
  token: string;
}

/** Running co-op lobbies on their first question, which stays open for a minute. */
async function fillLobbies(service: Service): Promise<BenchSeat[]> {
  const players = await Promise.all(
    Array.from({ length: 10 }, (_, i) => newPlayer(service.url, `Bench ${i}`)),
  );
  const hosts: { host: Player; code: string }[] = [];
  const seats: BenchSeat[] = [];
  for (let i = 0; i < lobbyCount; i++) {
    const host = await newPlayer(service.url, `Host ${i}`);
    const code = await createLobby(host, {
      mode: "coop",
      numQuestions: 1,
      timer: 60,
      maxPlayers: seatsPerLobby,
      category: "science",
    });
    seats.push({ code, token: host.lobbyToken });
    for (const guest of players.slice(0, seatsPerLobby - 1)) {
      await joinLobby(guest, code);
      seats.push({ code, token: guest.lobbyToken });
    }
    hosts.push({ host, code });
  }
  await Promise.all(
    hosts.map(async ({ host, code }) => {
      const started = await host.ask(code, "start");
      if (started.status !== 200)
        throw new Error(`start answered ${started.status} ${started.code}`);
    }),
  );
  return seats;
}

const pickJobs = (seats: BenchSeat[], isWanted: (seat: BenchSeat) => boolean): Job[] => {
  const wanted = seats.filter(isWanted);
  return Array.from({ length: connections }, (_, i) => pickJob(wanted[(i * 7) % wanted.length]));
};

function pickJob(seat: BenchSeat | undefined): Job {
  if (!seat) return { request: "" };
  return {
    request: requestText("POST", `${lobbies}/${seat.code}/pick`, {
      headers: { "x-lobby-token": seat.token },
      body: { selected_index: 1 },
    }),
  };
}

/** Code -> pid of the process that owns the lobby, from the owner records and the primary's list of processes. */
async function ownerPids(service: Service, seats: BenchSeat[]): Promise<Map<string, number>> {
  const pids = new Map(
    (await service.processes()).map(({ incarnation, pid }) => [incarnation, pid]),
  );
  const redis = connectRedis(service.redisUrl, silentLogger, "bench");
  await redisReady(redis);
  const owners = new Map<string, number>();
  for (const { code } of seats) {
    const owner = parseOwner(await redis.get(ownerKey(shardOf(code))));
    owners.set(code, pids.get(owner?.incarnation ?? "") ?? 0);
  }
  redis.disconnect();
  return owners;
}

async function pidsOf(service: Service): Promise<{ pids: number[]; redisPids: number[] }> {
  const redis = connectRedis(service.redisUrl, silentLogger, "bench");
  await redisReady(redis);
  const redisPid = Number(/process_id:(\d+)/.exec(await redis.info("server"))?.[1]);
  redis.disconnect();
  return { pids: await service.workerPids(), redisPids: [redisPid] };
}

/** Request ids begin with the pid of the process that gave them, in base 36. */
const pidOfRequest = (requestId: string) => Number.parseInt(requestId.split("-")[0] ?? "", 36);
