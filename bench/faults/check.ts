import type { Client } from "pg";
import type { Played } from "./table.ts";

/** Detected violations, counted; every number should be 0. */
export interface Verdict {
  lost: number;
  doubled: number;
  gaps: number;
  /** Two subscribers received different messages with the same number. */
  differing: number;
  surprises: number;
  /** Descriptions of the first few violations. */
  findings: string[];
}

const maxFindings = 20;
const resultWaitMs = 120_000;
const resultPollMs = 200;

export function newVerdict(): Verdict {
  return { lost: 0, doubled: 0, gaps: 0, differing: 0, surprises: 0, findings: [] };
}

type Kind = "lost" | "doubled" | "gaps" | "differing" | "surprises";

export function addViolation(verdict: Verdict, kind: Kind, count: number, what: string): void {
  if (count <= 0) return;
  verdict[kind] += count;
  if (verdict.findings.length < maxFindings) verdict.findings.push(`${kind} ${count}: ${what}`);
}

/** Compares acknowledged commands with the received messages and the final lobby. */
export function checkTable(verdict: Verdict, played: Played): void {
  const { code, final, seats } = played;
  for (const text of played.surprises) addViolation(verdict, "surprises", 1, `${code} ${text}`);
  if (final.status !== "finished") addViolation(verdict, "lost", 1, `${code} is ${final.status}`);
  for (const { seatId, listener } of seats) {
    const { doubled, missed, gaps, isEnded, last } = listener.received;
    const who = `seat ${seatId} of ${code}`;
    addViolation(verdict, "doubled", doubled, `messages to ${who}`);
    addViolation(verdict, "gaps", missed + gaps, `messages to ${who}`);
    if (!isEnded)
      addViolation(verdict, "gaps", 1, `${who} received no end after ${last} of ${final.seq}`);
  }
  checkLog(verdict, played);
  checkScores(verdict, played);
}

/** Each acknowledged command has exactly one message. */
function checkLog(verdict: Verdict, { code, mode, questions, seats }: Played): void {
  const log = new Map<number, string>();
  for (const { listener } of seats)
    for (const [seq, text] of listener.received.messages) {
      const known = log.get(seq);
      if (known !== undefined && known !== text)
        addViolation(verdict, "differing", 1, `message ${seq} of ${code}`);
      log.set(seq, text);
    }
  const counts = new Map<string, number>();
  for (const text of log.values()) {
    const { type, data } = JSON.parse(text) as { type: string; data: { player_id?: number } };
    const isChoice = type === "lobby.answer" || type === "lobby.pick";
    const name = isChoice ? `${type} ${data.player_id}` : type;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const choice = mode === "versus" ? "lobby.answer" : "lobby.pick";
  const expected: [string, number][] = [
    ["lobby.started", 1],
    ["lobby.reveal", questions],
    ["lobby.question", questions - 1],
    ["lobby.ended", 1],
    ...seats.map(({ seatId }): [string, number] => [`${choice} ${seatId}`, questions]),
  ];
  for (const [name, count] of expected) {
    const found = counts.get(name) ?? 0;
    addViolation(verdict, "lost", count - found, `${name} in the log of ${code}`);
    addViolation(verdict, "doubled", found - count, `${name} in the log of ${code}`);
  }
}

function checkScores(verdict: Verdict, { code, mode, choices, final }: Played): void {
  if (mode !== "versus") return;
  for (const { id, score } of final.players) {
    const own = choices.filter(({ seatId }) => seatId === id);
    const sum = own.reduce((total, { points }) => total + (points ?? 0), 0);
    if (score < sum)
      addViolation(verdict, "lost", 1, `score of seat ${id} in ${code}: ${score} of ${sum}`);
    if (score > sum)
      addViolation(verdict, "doubled", 1, `score of seat ${id} in ${code}: ${score} of ${sum}`);
  }
}

interface Row {
  code: string;
  seat_id: number;
  question_index: number;
  selected_index: number;
  points_earned: number;
}

/** Compares acknowledged answers with the database. */
export async function checkDatabase(
  verdict: Verdict,
  client: Client,
  played: readonly Played[],
  players: readonly number[],
): Promise<void> {
  const codes = played.map(({ code }) => code);
  await untilStored(client, codes.length, codes);
  const answers = await client.query<Row>(
    `select r.code, a.seat_id, a.question_index, a.selected_index, a.points_earned
     from lobby_answers a join lobby_results r on r.id = a.lobby_result_id where r.code = any($1)`,
    [codes],
  );
  const rows = new Map(
    answers.rows.map((row) => [`${row.code} ${row.seat_id} ${row.question_index}`, row]),
  );
  for (const { code, choices } of played)
    for (const { seatId, index, selected, points } of choices) {
      const name = `${code} ${seatId} ${index}`;
      const row = rows.get(name);
      const isSame = row?.selected_index === selected;
      const isPaid = points === null || row?.points_earned === points;
      if (!isSame || !isPaid) addViolation(verdict, "lost", 1, `answer ${name} in the database`);
    }
  const stats = await client.query<{ player_id: number; counted: number; stored: number }>(
    `select s.player_id, s.total_answers as counted,
       (select count(*)::int from lobby_answers a where a.player_id = s.player_id) as stored
     from player_stats s where s.player_id = any($1)`,
    [players],
  );
  for (const { player_id: id, counted, stored } of stats.rows) {
    addViolation(verdict, "lost", stored - counted, `answers in the statistics of player ${id}`);
    addViolation(verdict, "doubled", counted - stored, `answers in the statistics of player ${id}`);
  }
}

/** Jobs store results some time after the end; missing ones count as lost. */
async function untilStored(client: Client, count: number, codes: string[]): Promise<void> {
  const deadline = performance.now() + resultWaitMs;
  while (performance.now() < deadline) {
    const found = await client.query<{ n: number }>(
      "select count(*)::int as n from lobby_results where code = any($1)",
      [codes],
    );
    if ((found.rows[0]?.n ?? 0) >= count) return;
    await new Promise((resolve) => setTimeout(resolve, resultPollMs));
  }
}
