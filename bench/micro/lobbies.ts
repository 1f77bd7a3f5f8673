import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createLobbies, type LobbyCommand } from "../../actors/index.ts";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { createMetrics } from "../../server/platform/metrics/metrics.ts";
import { systemClock } from "../../server/platform/time/clock.ts";
import type { Scenario } from "../floor-scenario.ts";
import { note, verdict } from "../report.ts";
import { startRedis } from "../stores.ts";
import { millisOf } from "./in-turns.ts";

type Lobbies = Awaited<ReturnType<typeof createLobbies>>;

const players = 8;
const warmLobbies = 1_000;
/** Of 1000 bytes. */
const limit = { limit: 6, unit: " kB" };
/** Lobbies filled concurrently. */
const lanes = 256;
const hour = 3_600_000;
const letters = "ABCDEFGHJKLMNPQRSTUVWXYZ";

/** Heap of a waiting lobby of eight: the lobby runtime of an HTTP worker in this process, without the rest of one. */
export const lobbies: Scenario = {
  about: "a hundred thousand idle lobbies",
  async run({ isQuick }) {
    const redis = await startRedis();
    const runtime = await createLobbies({
      redisUrl: redis.url,
      clock: systemClock,
      log: silentLogger,
      metrics: createMetrics(),
      context: { hubUrl: "/v1/hub", topicBase: "/games/trivia" },
      seatLimit: null,
      enqueueResult: async () => null,
      draw: async () => [],
    });
    try {
      const numLobbies = isQuick ? 5_000 : 100_000;
      await make(runtime, 0, warmLobbies);
      const before = heapOf(runtime);
      const ms = await millisOf(() => make(runtime, warmLobbies, numLobbies));
      note(`created in ${(ms / 1000).toFixed(0)} s`);
      const after = heapOf(runtime);
      const actors = after.actors - before.actors;
      const heap = (after.bytes - before.bytes) / actors / 1000;
      return [
        {
          title: `lobbies: ${actors} idle of ${players} players in one process`,
          head: ["heap kB each", "target"],
          rows: [[heap.toFixed(2), verdict(heap, limit)]],
        },
      ];
    } finally {
      await redis.stop();
    }
  },
};

type Collect = (how: { type: "major"; execution: "sync"; flavor: "last-resort" }) => void;

/** After a collection of garbage, as the engine does it on an idle machine. */
function heapOf(runtime: Lobbies) {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as Collect;
  collect({ type: "major", execution: "sync", flavor: "last-resort" });
  return { bytes: process.memoryUsage().heapUsed, actors: runtime.describe().actors };
}

async function make(runtime: Lobbies, from: number, numLobbies: number): Promise<void> {
  let next = from;
  const lane = async () => {
    while (next < from + numLobbies) await fill(runtime, (next += 1));
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

async function fill(runtime: Lobbies, id: number): Promise<void> {
  const code = codeOf(id);
  const ask = async (command: LobbyCommand) => {
    const reply = await runtime.ask(code, command);
    if (!reply.ok) throw new Error(`${command.type} was refused: ${reply.code}`);
  };
  await ask(createCommand(code, id));
  for (let n = 1; n < players; n++) {
    const seat = seatOf(id, n);
    await ask({ type: "join", seat, by: { seatId: seat.id, playerId: seat.accountId } });
  }
}

function codeOf(id: number): string {
  let text = "2";
  for (let rest = id; text.length < 6; rest = Math.floor(rest / letters.length))
    text += letters[rest % letters.length];
  return text;
}

function seatOf(lobby: number, n: number) {
  const id = lobby * players + n;
  return { id, name: `Player ${id}`, accountId: 1_000_000 + id, avatarUrl: null };
}

const createCommand = (code: string, id: number): LobbyCommand => ({
  ...{ type: "create", id, code, realm: "default", maxPlayers: 16, host: seatOf(id, 0) },
  timings: { staleMs: hour, hostGraceMs: hour, minQuestionMs: 0 },
  settings: {
    ...{ category: "science", selected_categories: [], difficulty: null, prompt: null },
    ...{ blend: false, review: false, timer: 30, num_questions: 10 },
    ...{ visibility: "private", mode: "versus" },
  },
});
