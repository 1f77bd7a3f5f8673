import { insertQuestions } from "../../../../db/queries/questions/questions.ts";
import { findChallenge } from "../../../../db/queries/runs/challenges.ts";
import { listQuestions } from "../../../../db/queries/runs/runs.ts";
import {
  categories,
  difficulties,
  normalizeText,
} from "../../../../server/features/questions/providers/question-model.ts";
import type { App } from "../../../support/app.ts";
import { eventually } from "../../../support/eventually.ts";
import { enter, post, tokenOf, type SessionAnswer } from "../../../support/identity.ts";

/** `count` questions per category and difficulty, half of them in each pool. */
export async function fillBank(app: App, count: number, names: readonly string[] = categories) {
  const rows = names.flatMap((category) =>
    difficulties.flatMap((difficulty) =>
      Array.from({ length: count }, (_, n) => {
        const question = `What is number ${n} of ${difficulty} ${category}?`;
        return {
          ...{ category, difficulty, question, estimatedRate: 50, source: "test" },
          choices: ["a", "b", "c", "d"].map((choice) => `${choice} ${n}`),
          correctIndex: n % 4,
          explanation: `It is number ${n}.`,
          textKey: normalizeText(question),
        };
      }),
    ),
  );
  await insertQuestions(app.deps.em, rows, { pool: "both", promptHash: null });
}

export interface Question {
  id: number;
  category: string;
  difficulty: string;
  is_cached: boolean;
}
export interface Run {
  id: number;
  mode: string;
  challenge_id: number | null;
  score: number;
  streak: number;
  best_streak: number;
  num_correct: number;
  current_index: number;
  total_time_ms: number;
  category: string | null;
  is_finished: boolean;
  created_at: string;
  finished_at: string | null;
}
export interface Answered {
  is_correct: boolean;
  answer: number;
  xp_gained: number;
  points_earned: number;
  streak: number;
  best_streak: number;
  num_served: number;
  correct_rate: number;
  next_question: Question | null;
  run_finished: boolean;
}
export interface Summary {
  id: number;
  completed: boolean;
  in_progress: boolean;
  run_id: number | null;
  score: number | null;
  rank: number | null;
  category: string | null;
  categories: string[];
  difficulties: string[];
}
export type Today = Record<"daily_shuffle" | "gauntlet", Summary>;

const base = "/v1/games/trivia";
const as = <T>(answer: SessionAnswer) => answer.body as unknown as T;

/** A guest with the calls of runs. */
export async function runner(app: App) {
  const session = await enter(app);
  const headers = tokenOf(session);
  const send = (path: string, body?: unknown) => post(app, `${base}${path}`, body, headers);
  const get = (path: string) => app.client.get(`${base}${path}`, { headers });
  return {
    id: session.player.id,
    headers,
    send,
    get,
    /** After the clock was moved far ahead; the access token is not under test here. */
    renew: async () => {
      const again = await post(app, "/v1/gateway/guest", { reclaimToken: session.reclaim_token });
      Object.assign(headers, tokenOf(again.body));
    },
    start: async (mode: string, more: Record<string, unknown> = {}) =>
      as<Run & { run: Run; question: Question }>(await send("/runs", { mode, ...more })),
    answer: (run: number, selected_index: number, time_taken_ms = 0) =>
      send(`/runs/${run}/answer`, { selected_index, time_taken_ms }),
    advance: (run: number) => send(`/runs/${run}/advance`),
    read: async (run: number) => ((await get(`/runs/${run}`)).body as { run: Run }).run,
    /** Asks again while the service is busy: the first request of a day makes its challenges. */
    today: async (tz = "UTC") => {
      let answer = await get(`/challenges/today?tz=${encodeURIComponent(tz)}`);
      await eventually("the challenges are made", async () => {
        if (answer.status !== 503) return true;
        answer = await get(`/challenges/today?tz=${encodeURIComponent(tz)}`);
        return false;
      });
      return answer.body as Today;
    },
    embers: async () =>
      ((await app.client.get("/v1/embers/@me", { headers })).body as { balance: number }).balance,
  };
}
export type Runner = Awaited<ReturnType<typeof runner>>;

export async function correctIndexOf(app: App, questionId: number): Promise<number> {
  return (await listQuestions(app.deps.em, [questionId])).get(questionId)?.correctIndex ?? -1;
}

/** Questions of a challenge in their order. */
export async function questionsOf(app: App, challengeId: number) {
  const ids = (await findChallenge(app.deps.em, challengeId))?.questionIds ?? [];
  const rows = await listQuestions(app.deps.em, ids);
  return ids.flatMap((id) => rows.get(id) ?? []);
}

/** Plays a challenge to its end; `isRight` says which questions are answered correctly. */
export async function playChallenge(
  app: App,
  who: Runner,
  mode: "daily_shuffle" | "gauntlet",
  challengeId: number,
  isRight: (index: number) => boolean,
): Promise<Run> {
  const { id } = await who.start(mode, { challenge_id: challengeId });
  for (const [index, { correctIndex }] of (await questionsOf(app, challengeId)).entries()) {
    if (index > 0) await who.advance(id);
    await who.answer(id, isRight(index) ? correctIndex : (correctIndex + 1) % 4, 1_000 + index);
  }
  return who.read(id);
}
