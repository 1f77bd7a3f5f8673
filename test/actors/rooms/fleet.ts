import {
  createLobbies,
  type DrawnQuestion,
  type DrawPlan,
  type Lobbies,
  type LobbyCommand,
  type Reply,
  type Takeover,
} from "../../../actors/index.ts";
import type { RoomTimings } from "../../../actors/timing.ts";
import type { Origin } from "../../../server/platform/origin.ts";
import { systemClock, type Clock } from "../../../server/platform/time/clock.ts";
import { silentLogger, type Logger } from "../../../server/platform/log/logger.ts";
import { createMetrics } from "../../../server/platform/metrics/metrics.ts";

export const context = { hubUrl: "/v1/hub", topicBase: "/games/trivia" };
export const timings = { staleMs: 75_000, hostGraceMs: 60_000, minQuestionMs: 0 };

let drawn = 0;

/** Questions whose correct choice is always 0. */
export function drawQuestions(plan: Pick<DrawPlan, "count">): DrawnQuestion[] {
  return Array.from({ length: plan.count }, () => {
    drawn += 1;
    return {
      id: drawn,
      category: "science",
      difficulty: "easy",
      text: `Question ${drawn}?`,
      choices: ["a", "b", "c", "d"],
      correctIndex: 0,
      explanation: `Because ${drawn}.`,
      estimatedRate: 75,
      isCached: true,
      numServed: 0,
      numCorrect: 0,
    };
  });
}

export interface Member {
  lobbies: Lobbies;
  /** Result jobs this member queued, and what they go back to. */
  results: { code: string; origin: Origin }[];
}

/** One worker's share of the lobbies, in this process. */
export async function newMember(
  redisUrl: string,
  options: {
    clock?: Clock;
    draw?: (plan: DrawPlan) => Promise<DrawnQuestion[]>;
    timings?: Partial<RoomTimings>;
    log?: Logger;
    onTakeover?: (takeover: Takeover) => void;
  } = {},
): Promise<Member> {
  const { clock = systemClock, draw = async (plan) => drawQuestions(plan), ...rest } = options;
  const results: Member["results"] = [];
  const lobbies = await createLobbies({
    redisUrl,
    clock,
    context,
    log: silentLogger,
    metrics: createMetrics(),
    seatLimit: null,
    enqueueResult: async ({ code }, origin) => results.push({ code, origin }),
    draw,
    ...rest,
  });
  return { lobbies, results };
}

/** The members of the bodies that tests read. */
interface Body {
  lobby: {
    status: string;
    current_index: number;
    spectator_count: number;
    players: { id: number; score: number }[];
  };
  points_earned: number;
  revision: number;
  count: number;
}

/** Body of a reply; throws on a refusal. */
export function bodyOf(reply: Reply): Body {
  if (!reply.ok) throw new Error(`refused: ${reply.code}`);
  return JSON.parse(reply.body ?? "{}") as Body;
}

export const by = (seatId: number) => ({ by: { seatId, playerId: null } });

interface LobbyOptions {
  mode?: "coop" | "versus";
  questions?: number | null;
  timings?: typeof timings;
}

/** Creates a public lobby whose host has the first of the seats. */
export function createCommand(
  code: string,
  [host = 1]: number[],
  settings: LobbyOptions = {},
): LobbyCommand {
  return {
    type: "create",
    id: host,
    code,
    realm: "default",
    maxPlayers: 16,
    timings: settings.timings ?? timings,
    settings: {
      category: null,
      selected_categories: [],
      difficulty: null,
      prompt: null,
      blend: false,
      review: false,
      timer: 60,
      num_questions: settings.questions === undefined ? 3 : settings.questions,
      visibility: "public",
      mode: settings.mode ?? "coop",
    },
    host: { id: host, name: `P${host}`, accountId: null, avatarUrl: null },
  };
}

/** Creates and starts a lobby with seats 1..n (host 1). */
export async function startedLobby(
  lobbies: Lobbies,
  code: string,
  settings: LobbyOptions & {
    seats: number[];
    /** Number of questions at its start. */ first?: number;
  },
): Promise<void> {
  const [host = 1, ...others] = settings.seats;
  bodyOf(await lobbies.ask(code, createCommand(code, settings.seats, settings)));
  for (const id of others)
    bodyOf(
      await lobbies.ask(code, {
        type: "join",
        seat: { id, name: `P${id}`, accountId: null, avatarUrl: null },
        ...by(id),
      }),
    );
  const plan = bodyOf(await lobbies.ask(code, { type: "prepare", ...by(host) }));
  bodyOf(
    await lobbies.ask(code, {
      type: "start",
      revision: plan.revision,
      questions: drawQuestions({ count: settings.first ?? plan.count }),
      ...by(host),
    }),
  );
}
