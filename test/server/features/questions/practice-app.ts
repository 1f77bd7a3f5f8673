import assert from "node:assert/strict";
import { after, before } from "node:test";
import { sql } from "kysely";
import { rowsOf } from "../../../../db/queries/rows.ts";
import { seedQuestions } from "../../../../db/seeds/questions.ts";
import { starterQuestions } from "../../../../server/features/questions/providers/question-bank/index.ts";
import { startApp, type App } from "../../../support/app.ts";
import { manualClock } from "../../../support/clock.ts";
import { enter } from "../../../support/identity.ts";

interface Session {
  id: number;
  total_points: number;
  total_correct: number;
  total_answered: number;
  current_streak: number;
  best_streak: number;
  current_multiplier: number;
  created_at: string;
  updated_at: string;
  ended_at: string | null;
}

export interface Reveal {
  is_correct: boolean;
  answer: number;
  explanation: string;
  correct_rate: number;
  num_served: number;
  xp_gained: number;
  session: Session;
  was_previously_wrong: boolean;
}

export const base = "/v1/games/trivia";
const startedAt = Date.UTC(2026, 5, 1, 12);
export let app: App;
export let clock = manualClock(startedAt);

export const newPlayer = async () => {
  const session = await enter(app);
  return { token: session.access_token, id: session.player.id };
};

export type Player = Awaited<ReturnType<typeof newPlayer>>;

export const answer = (player: Player, id: number | string, body: unknown, headers = {}) =>
  app.client.post(`${base}/questions/${id}/answer`, { token: player.token, body, headers });

export const revealed = async (player: Player, id: number, body: object) => {
  const result = await answer(player, id, body);
  assert.equal(result.status, 200);
  return result.body as Reveal;
};

export const idsOf = (filter: { category: string; difficulty: string; pool?: string }) =>
  rowsOf(
    app.deps.em,
    sql<{ id: number; right: number }>`select id, correct_index as right from questions
        where category = ${filter.category} and difficulty = ${filter.difficulty}
          and pool = ${filter.pool ?? "public"} and retired_at is null order by id`,
  );

export const codeOf = (response: { json: unknown }) =>
  (response.json as { flash?: { errors?: { code: string }[] } }).flash?.errors?.[0]?.code;

/** The service with the starter questions, at a fixed time. */
export function startsPracticeApp(): void {
  before(async () => {
    clock = manualClock(startedAt);
    app = await startApp({ clock });
    await seedQuestions(app.deps.em, () => starterQuestions(4));
  });
  after(() => app.stop());
}
