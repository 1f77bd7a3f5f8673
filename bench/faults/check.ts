import { setTimeout as pause } from "node:timers/promises";
import type { Client } from "pg";
import type { Played, Violation } from "../load/record.ts";

const resultWaitMs = 120_000;
const resultPollMs = 200;

interface Row {
  code: string;
  seat_id: number;
  question_index: number;
  selected_index: number;
  points_earned: number;
}

interface Counts {
  player_id: number;
  counted: number;
  stored: number;
}

/** Looks every acknowledged choice of the games up in the database, and what of them the statistics have counted. */
export async function checkStored(client: Client, played: readonly Played[]): Promise<Violation[]> {
  const codes = played.map(({ code }) => code);
  await untilStored(client, codes);
  const answers = await client.query<Row>(
    `select r.code, a.seat_id, a.question_index, a.selected_index, a.points_earned
     from lobby_answers a join lobby_results r on r.id = a.lobby_result_id where r.code = any($1)`,
    [codes],
  );
  const rows = new Map(
    answers.rows.map((row) => [`${row.code} ${row.seat_id} ${row.question_index}`, row]),
  );
  const lost = played.flatMap(({ code, choices }) =>
    choices.flatMap(({ playerId, index, selected, points, requestId }) => {
      const row = rows.get(`${code} ${playerId} ${index}`);
      const isPaid = points === null || row?.points_earned === points;
      if (row?.selected_index === selected && isPaid) return [];
      const text = `answer ${selected} of player ${playerId} to question ${index} of lobby ${code} is missing in the database`;
      return { kind: "lost answer", text, bot: "", requestId };
    }),
  );
  const { rows: statistics } = await client.query<Counts>(
    `select s.player_id, s.total_answers as counted,
       (select count(*)::int from lobby_answers a where a.player_id = s.player_id) as stored
     from player_stats s where s.player_id in (select a.player_id
       from lobby_answers a join lobby_results r on r.id = a.lobby_result_id where r.code = any($1))`,
    [codes],
  );
  const wrong = statistics.filter(({ counted, stored }) => counted !== stored);
  return [
    ...lost,
    ...wrong.map(({ player_id: id, counted, stored }) => ({
      ...{ kind: "wrong statistics", bot: "", requestId: null },
      text: `the statistics of account ${id} have counted ${counted} answers of ${stored}`,
    })),
  ];
}

/** Jobs store results some time after the end; missing ones count as lost. */
async function untilStored(client: Client, codes: readonly string[]): Promise<void> {
  const deadline = performance.now() + resultWaitMs;
  while (performance.now() < deadline) {
    const found = await client.query<{ n: number }>(
      "select count(*)::int as n from lobby_results where code = any($1)",
      [codes],
    );
    if ((found.rows[0]?.n ?? 0) >= codes.length) return;
    await pause(resultPollMs);
  }
}
