import type { Bot } from "./bot.ts";

const base = "/v1/games/trivia/questions";

interface Question {
  id: number;
}

export async function draw(bot: Bot): Promise<Question> {
  const { question } = await bot.client.call<{ question: Question | null }>("GET", `${base}/draw`);
  if (question === null) throw new Error("the target has no question to draw");
  return question;
}

/** Answers as somebody who guesses. `key`: unique for the player. */
export function answer(bot: Bot, { id }: Question, key: string): Promise<unknown> {
  const selected = Math.floor(bot.random() * 4);
  const body = { selected_index: selected, time_taken_ms: 2_000 };
  return bot.client.call("POST", `${base}/${id}/answer`, { body, key });
}
