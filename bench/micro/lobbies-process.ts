import { createLobbies, type LobbyCommand } from "../../actors/index.ts";
import { systemClock } from "../../server/platform/time/clock.ts";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { createMetrics } from "../../server/platform/metrics/metrics.ts";
import { topicCode } from "../peers/topic-code.ts";
import { serveCalls } from "../rpc.ts";

type Collect = (options: { type: "major"; execution: "sync"; flavor: "last-resort" }) => void;

/** Collects garbage and returns its pages, as the engine does on an idle machine. Needs `--expose-gc`. */
function collectGarbage(): void {
  const collect = globalThis.gc as Collect | undefined;
  collect?.({ type: "major", execution: "sync", flavor: "last-resort" });
}

/** The lobby runtime of an HTTP worker, without the rest of the worker. */
const lobbies = await createLobbies({
  redisUrl: process.env["REDIS_URL"] ?? "",
  clock: systemClock,
  log: silentLogger,
  metrics: createMetrics(),
  context: { hubUrl: "/v1/hub", topicBase: "/games/trivia" },
  seatLimit: null,
  enqueueResult: async () => null,
  draw: async () => [],
});

/** Lobbies filled concurrently. */
const lanes = 256;
const hour = 3_600_000;
let made = 0;
let seats = 0;

const newSeat = () => {
  seats += 1;
  return { id: seats, name: `Player ${seats}`, accountId: 1_000_000 + seats, avatarUrl: null };
};

function createCommand(code: string, id: number): LobbyCommand {
  return {
    type: "create",
    id,
    code,
    realm: "default",
    maxPlayers: 16,
    timings: { staleMs: hour, hostGraceMs: hour, minQuestionMs: 0 },
    settings: {
      category: "science",
      selected_categories: [],
      difficulty: null,
      prompt: null,
      blend: false,
      review: false,
      timer: 30,
      num_questions: 10,
      visibility: "private",
      mode: "versus",
    },
    host: newSeat(),
  };
}

async function fill(players: number): Promise<void> {
  made += 1;
  const code = topicCode(made);
  await ask(code, createCommand(code, made));
  for (let n = 1; n < players; n++) {
    const seat = newSeat();
    await ask(code, { type: "join", seat, by: { seatId: seat.id, playerId: seat.accountId } });
  }
}

async function ask(code: string, command: LobbyCommand): Promise<void> {
  const reply = await lobbies.ask(code, command);
  if (!reply.ok) throw new Error(`${command.type} was refused: ${reply.code}`);
}

const calls = {
  async make({ count, players }: { count: number; players: number }) {
    const until = made + count;
    const lane = async () => {
      while (made < until) await fill(players);
    };
    await Promise.all(Array.from({ length: Math.min(lanes, count) }, lane));
  },
  memory() {
    collectGarbage();
    const { heapUsed, rss } = process.memoryUsage();
    return { heapUsed, rss, actors: lobbies.describe().actors };
  },
};
export type MemoryCalls = typeof calls;
serveCalls(calls);
