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

/** Answers, correct ones and points of an account. */
interface Totals {
  player_id: number;
  counted: number[];
  stored: number[];
}

/** Looks every acknowledged choice of the games up in the database, and what of them the statistics have counted. */
export async function checkStored(client: Client, played: readonly Played[]): Promise<Violation[]> {
  const codes = played.map(({ code }) => code);
  const missing = await untilStored(client, codes);
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
  const { rows: statistics } = await client.query<Totals>(
    `select s.player_id, array[s.total_answers, s.total_correct, s.total_score] as counted,
       (select array[count(*), count(*) filter (where is_correct), coalesce(sum(points_earned), 0)]
        from lobby_answers a where a.player_id = s.player_id) as stored
     from player_stats s where s.player_id in (select a.player_id
       from lobby_answers a join lobby_results r on r.id = a.lobby_result_id where r.code = any($1))`,
    [codes],
  );
  const wrong = statistics.filter(({ counted, stored }) => counted.join() !== stored.join());
  return [
    ...missing.map((code) => ({
      ...{ kind: "lost result", bot: "", requestId: null },
      text: `the result of lobby ${code} is missing in the database`,
    })),
    ...lost,
    ...wrong.map(({ player_id: id, counted, stored }) => ({
      ...{ kind: "wrong statistics", bot: "", requestId: null },
      text: `the statistics of account ${id} have counted ${counted.join()} answers, correct ones and points of ${stored.join()}`,
    })),
  ];
}

/** Jobs store results some time after the end. Resolves to the codes of those that do not come. */
async function untilStored(client: Client, codes: readonly string[]): Promise<string[]> {
  const deadline = performance.now() + resultWaitMs;
  for (;;) {
    const found = await client.query<{ code: string }>(
      "select code from lobby_results where code = any($1)",
      [codes],
    );
    const stored = new Set(found.rows.map(({ code }) => code));
    const missing = codes.filter((code) => !stored.has(code));
    if (missing.length === 0 || performance.now() > deadline) return missing;
    await pause(resultPollMs);
  }
}
