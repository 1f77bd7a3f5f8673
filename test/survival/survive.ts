import { Redis } from "ioredis";
import { withClient } from "../../server/runtime/stores/postgres.ts";
import { startService, type Service } from "../support/process.ts";
import { testStores, type TestStores } from "../support/stores.ts";
import { insist } from "./caller.ts";
import { addViolation, checkDatabase, checkTable, newVerdict, type Verdict } from "./check.ts";
import { makeFaults, type Faults } from "./faults.ts";
import { createRandom } from "./random.ts";
import { playTable, type Guest, type Played } from "./table.ts";

export interface SurvivalOptions {
  /** Duration of the fault injection; running games are then played to their end. */
  seconds: number;
  /** Maximum lobbies in play at once. */
  lobbies: number;
  players?: number;
  workers?: number;
  seed: number;
  report: (line: string) => void;
}

export interface SurvivalReport {
  verdict: Verdict;
  faults: Faults;
  lobbies: number;
  acknowledged: number;
  messages: number;
  connections: number;
  /** Number of requests and streams sent directly to the owner of a lobby. */
  direct: number;
}

/** Each worker then lives longer than ten seconds, after which a restart is quick. */
const defaultWorkers = 4;
const maxQuestions = 6;
const thinkMs = 1_500;
const guestsAtOnce = 8;

/** Plays on a whole service under faults, and compares all acknowledged choices with the final state. */
export async function survive(options: SurvivalOptions): Promise<SurvivalReport> {
  const stores = await testStores();
  const redis = new Redis({
    path: stores.redisUrl.replace("unix://", ""),
    maxRetriesPerRequest: 1,
  });
  redis.on("error", () => {});
  try {
    const service = await startService({
      env: {
        DATABASE_URL: stores.databaseUrl,
        REDIS_URL: stores.redisUrl,
        HTTP_WORKERS: String(options.workers ?? defaultWorkers),
        WORKER_PORTS: "auto",
        RATE_LIMIT_FACTOR: "0",
        LOBBY_MIN_QUESTION_MS: "0",
        HUB_STREAMS_PER_ADDRESS: "100000",
        LOG_LEVEL: process.env["SURVIVE_LOG"] ?? "fatal",
      },
    });
    try {
      return await run(options, service, stores, redis);
    } finally {
      await service.stop();
    }
  } finally {
    redis.disconnect();
    await stores.stop();
  }
}

async function run(
  options: SurvivalOptions,
  service: Service,
  stores: TestStores,
  redis: Redis,
): Promise<SurvivalReport> {
  const { seconds, lobbies, players = 4, report } = options;
  const guests = await makeGuests(service.url, lobbies * players);
  report(`${guests.length} guests are there`);
  const running = new Set<string>();
  const finished: Played[] = [];
  const verdict = newVerdict();
  const until = performance.now() + seconds * 1_000;
  const playOn = async (i: number): Promise<void> => {
    const random = createRandom(options.seed * 10_007 + i);
    const own = guests.slice(i * players, (i + 1) * players);
    for (let game = 0; performance.now() < until; game++) {
      let code = "";
      const played = await playTable({
        url: service.url,
        // Half of all clients; the mode alternates between games.
        followsOwner: i % 2 === 0,
        guests: own,
        mode: (i + game) % 2 === 0 ? "versus" : "coop",
        questions: 2 + Math.floor(random() * (maxQuestions - 1)),
        random,
        thinkMs,
        onCode: (made) => running.add((code = made)),
      });
      running.delete(code);
      checkTable(verdict, played);
      finished.push(played);
    }
  };
  const tables = Array.from({ length: lobbies }, (_, i) => playOn(i));
  const faulting = makeFaults({
    service,
    stores,
    redis,
    seconds,
    report,
    codes: () => [...running],
  });
  const [faults] = await Promise.all([faulting, ...tables]);
  for (const pid of faults.ended)
    addViolation(verdict, "surprises", 1, `worker ${pid} ended by itself`);
  await withClient(stores.databaseUrl, (client) =>
    checkDatabase(
      verdict,
      client,
      finished,
      guests.map(({ accountId }) => accountId),
    ),
  );
  const received = finished.flatMap(({ seats }) => seats.map(({ listener }) => listener.received));
  return {
    verdict,
    faults,
    lobbies: finished.length,
    acknowledged: sum(finished.map((played) => played.acknowledged)),
    messages: sum(received.map(({ messages }) => messages.size)),
    connections: sum(received.map(({ connections }) => connections)),
    direct: sum(finished.map((played) => played.direct)),
  };
}

export async function makeGuests(url: string, count: number): Promise<Guest[]> {
  const guests: Guest[] = [];
  const make = async () => {
    while (guests.length < count) {
      const call = { method: "POST", path: "/v1/gateway/guest", body: {} } as const;
      const { body } = await insist(url, call);
      const { id } = body["player"] as { id: number };
      guests.push({ accountId: id, token: String(body["access_token"]) });
    }
  };
  await Promise.all(Array.from({ length: guestsAtOnce }, make));
  return guests.slice(0, count);
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, n) => total + n, 0);
