import { withClient } from "../../server/runtime/stores/postgres.ts";
import { startService, wakeOperator, type Service } from "../../test/support/process.ts";
import { addViolation, checkDatabase, checkTable, newVerdict, type Verdict } from "./check.ts";
import { injectFaults } from "./inject.ts";
import { planSurvival } from "./plan.ts";
import { createRandom } from "../../test/survival/random.ts";
import type { Fault } from "../report/schema.ts";
import { makeGuests, playTable, type Played } from "./table.ts";

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
  faults: Fault[];
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

/** Plays on a whole service under faults, and compares all acknowledged choices with the final state. */
export async function survive(options: SurvivalOptions): Promise<SurvivalReport> {
  const service = await startService({
    sharesPostgres: true,
    env: {
      HTTP_WORKERS: String(options.workers ?? defaultWorkers),
      WORKER_PORTS: "auto",
      RATE_LIMIT_FACTOR: "0",
      LOBBY_MIN_QUESTION_MS: "0",
      HUB_STREAMS_PER_ADDRESS: "100000",
      LOG_LEVEL: process.env["SURVIVE_LOG"] ?? "fatal",
    },
  });
  try {
    await wakeOperator(service);
    return await run(options, service);
  } finally {
    await service.stop();
  }
}

async function run(options: SurvivalOptions, service: Service): Promise<SurvivalReport> {
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
  const faulting = injectFaults({
    ...{ service, report, startedAt: performance.now(), codes: () => [...running] },
    plan: planSurvival(seconds),
    patienceMs: 0,
    // The listeners cut their streams themselves.
    cutStreams: async () => [],
    // The last fault comes at the end of the time.
    signal: AbortSignal.timeout((seconds + 1) * 1_000),
  });
  const [injected] = await Promise.all([faulting, ...tables]);
  for (const pid of injected.died)
    addViolation(verdict, "surprises", 1, `worker ${pid} ended by itself`);
  await withClient(service.databaseUrl, (client) =>
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
    faults: injected.faults,
    lobbies: finished.length,
    acknowledged: sum(finished.map((played) => played.acknowledged)),
    messages: sum(received.map(({ messages }) => messages.size)),
    connections: sum(received.map(({ connections }) => connections)),
    direct: sum(finished.map((played) => played.direct)),
  };
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, n) => total + n, 0);
