import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import type { Static } from "typebox";
import type { Results } from "../../../../server/features/lobbies/results-schema.ts";
import { prefersCsv, resultsCsv } from "../../../../server/features/lobbies/results-csv.ts";
import { hashAnswer } from "../../../../server/features/questions/seal.ts";
import { startApp, type App } from "../../../support/app.ts";
import { findLobbyResult } from "../../../../db/queries/lobbies/lobby-results.ts";
import { rowsOf } from "../../../../db/queries/rows.ts";
import type { ResultSheet } from "../../../../actors/index.ts";
import { ask, base, openTable, outcome, playing, sit, type Table } from "./seats.ts";

type Sheet = Static<typeof Results>["results"];

let app: App;
let turnedMs = 0;

type As = Record<string, string>;

const read = (code: string, as: As, query = "") =>
  ask(app, "GET", `/${code}/results${query}`, undefined, as);

const sheetOf = async (code: string, as: As): Promise<Sheet> => {
  const answer = await read(code, as);
  assert.equal(answer.status, 200, answer.code);
  return answer.body["results"] as Sheet;
};

const csvOf = (code: string, as: As, query: string, headers: As = {}) =>
  fetch(`${app.url}${base}/${code}/results${query}`, { headers: { ...as, ...headers } });

const answer = (code: string, as: As | undefined, selected_index: number) =>
  ask(app, "POST", `/${code}/answer`, { selected_index, time_taken_ms: 100 }, as);

/** Two questions played by the host and one other player; the third is never opened. */
async function played(): Promise<Table> {
  const table = await playing(app, { mode: "versus", hostName: "=1+1" });
  const { code, host, guests } = table;
  for (const index of [0, 1]) {
    await answer(code, host.as, index);
    await answer(code, guests[0]?.as, 3);
    const { status } = await ask(app, "POST", `/${code}/next`, { index }, host.as);
    assert.equal(status, 200);
  }
  await ask(app, "POST", `/${code}/end`, undefined, host.as);
  return table;
}

describe("results of a lobby", () => {
  before(async () => {
    const clock = { now: () => Date.now() + turnedMs };
    app = await startApp({ env: { LOBBY_MIN_QUESTION_MS: "0" }, clock });
  });
  after(() => app.stop());

  describe("GET /lobbies/{code}/results", () => {
    it("shows the host every seat's answer to every question, and proves the answers", async () => {
      const { code, host, guests } = await played();
      const sheet = await sheetOf(code, host.as);
      assert.deepEqual(
        [sheet.code, sheet.host_name, sheet.end_reason],
        [code, "=1+1", "host_ended"],
      );
      assert.deepEqual([sheet.num_questions, sheet.num_questions_requested], [3, 3]);
      assert.deepEqual(
        sheet.questions.map((one) => [one.index, one.closed_by, one.results.length]),
        [
          [0, "all_answered", 2],
          [1, "all_answered", 2],
        ],
      );
      assert.deepEqual(
        sheet.questions.map((one) => one.results.map((result) => result.selected_index)),
        [
          [0, 3],
          [1, 3],
        ],
      );
      for (const { question, answer_hash, answer_salt } of sheet.questions) {
        const { id, correct_index: correctIndex, answers: choices } = question;
        assert.equal(hashAnswer(answer_salt ?? "", { id, correctIndex, choices }), answer_hash);
      }
      for (const player of sheet.players) {
        const own = sheet.questions.flatMap((one) =>
          one.results.filter((r) => r.player_id === player.id),
        );
        assert.equal(
          player.score,
          own.reduce((sum, one) => sum + one.points_earned, 0),
        );
        assert.equal(player.num_answered, 2);
        assert.equal(
          player.rank,
          1 + sheet.players.filter((one) => one.score > player.score).length,
        );
      }
      assert.deepEqual(sheet.players.map((one) => one.id).sort(), [host.id, guests[0]?.id].sort());
    });

    it("is available as CSV, by the query or by Accept, without formulas", async () => {
      const { code, host } = await played();
      const sheet = await sheetOf(code, host.as);
      const byQuery = await csvOf(code, host.as, "?format=csv");
      assert.equal(byQuery.status, 200);
      assert.equal(byQuery.headers.get("content-type"), "text/csv; charset=utf-8");
      assert.match(
        byQuery.headers.get("content-disposition") ?? "",
        new RegExp(`attachment; filename="lobby-${code}.csv"`),
      );
      const bytes = Buffer.from(await byQuery.clone().arrayBuffer());
      assert.deepEqual([...bytes.subarray(0, 3)], [0xef, 0xbb, 0xbf], "a byte order mark");
      const text = await byQuery.text();
      assert.equal(await (await csvOf(code, host.as, "", { accept: "text/csv" })).text(), text);
      const asked = await csvOf(code, host.as, "?format=json", { accept: "text/csv" });
      assert.match(asked.headers.get("content-type") ?? "", /^application\/json/);
      const [header = [], ...lines] = parseCsv(text);
      const cell = (line: string[], name: string) => line[header.indexOf(name)];
      const results = sheet.questions.flatMap((one) => one.results);
      assert.deepEqual(
        lines.map((line) =>
          ["player_id", "selected_index", "points_earned", "score"].map((name) =>
            Number(cell(line, name)),
          ),
        ),
        results.map((one) => [one.player_id, one.selected_index, one.points_earned, one.score]),
      );
      assert.equal(cell(lines[0] ?? [], "player_name"), "'=1+1");
      assert.equal(cell(lines[0] ?? [], "question"), sheet.questions[0]?.question.question);
    });

    it("is for the host of a finished game only", async () => {
      const { code, host, guests } = await openTable(app, {}, 1);
      assert.equal(outcome(await read(code, host.as)), "400 lobby:not_finished");
      assert.equal(outcome(await read(code, guests[0]?.as ?? {})), "403 lobby:not_host");
      await ask(app, "POST", `/${code}/end`, undefined, host.as);
      assert.equal(outcome(await read(code, guests[0]?.as ?? {})), "403 lobby:not_host");
      assert.equal(outcome(await read(code, {})), "401 auth:required");
      assert.equal(outcome(await read(code, host.as, "?format=xml")), "400 request:invalid_query");
      assert.equal(outcome(await read("AAAAAA", host.bearer)), "404 lobby:not_found");
      const sheet = await sheetOf(code, host.bearer);
      assert.deepEqual([sheet.started_at, sheet.questions], [null, []]);
      assert.equal(
        (await (await csvOf(code, host.as, "?format=csv")).text()).split("\r\n").length,
        2,
      );
    });

    it("is read from the database when another lobby has the code, for the player who hosted it", async () => {
      const { code, host } = await played();
      const seen = await sheetOf(code, host.as);
      while (!(await findLobbyResult(app.deps.em, code, null))) await delay(20);
      const later = await openTable(app);
      // Codes are random, so a finished game may reuse the code of a running one.
      const renamed = sql`update lobby_results set code = ${later.code} where code = ${code}`;
      await rowsOf(app.deps.em, renamed);
      assert.deepEqual(await sheetOf(later.code, host.bearer), seen);
      assert.equal(outcome(await read(later.code, host.as)), "401 lobby:token_invalid");
      assert.equal(outcome(await read(later.code, later.host.as)), "400 lobby:not_finished");
      assert.equal(outcome(await read(later.code, loginOf(999_999))), "403 lobby:not_host");
      const guest = await sit(app, later.code, "Guest");
      assert.equal(outcome(await read(later.code, guest.as)), "403 lobby:not_host");
    });

    it("is read from the database when the lobby is gone, for the player who hosted it", async () => {
      const { code, host } = await played();
      const seen = await sheetOf(code, host.as);
      while (!(await findLobbyResult(app.deps.em, code, null))) await delay(20);
      turnedMs = 24 * 3_600_000;
      const own = loginOf(host.accountId ?? 0);
      assert.equal(
        outcome(await ask(app, "GET", `/${code}`, undefined, own)),
        "404 lobby:not_found",
      );
      assert.deepEqual(await sheetOf(code, own), seen);
      assert.equal((await csvOf(code, own, "?format=csv")).status, 200);
      assert.equal(outcome(await read(code, loginOf(999_999))), "403 lobby:not_host");
      assert.equal(outcome(await read("AAAAAA", own)), "404 lobby:not_found");
    });
  });
  describe("the CSV of a result sheet", () => {
    it("keeps hostile texts in their cells", () => {
      const names = [
        "=cmd|' /C calc'!A0",
        "+1",
        "-1",
        "@SUM(A1)",
        'quo"te',
        "a,b",
        "line\nbreak",
        "-",
      ];
      const marked = resultsCsv(sheetWith(names));
      assert.ok(marked.startsWith("\ufeff"));
      const text = marked.slice(1);
      const [header = [], ...lines] = parseCsv(text);
      const at = header.indexOf("player_name");
      assert.deepEqual(
        lines.map((line) => line[at]),
        names.map((name) => (/^[=+\-@]/.test(name) ? `'${name}` : name)),
      );
      assert.ok(lines.every((line) => line.length === header.length));
      assert.ok(
        lines.every((line) => line[header.indexOf("selected_index")] === "-1"),
        "a number is no formula",
      );
    });

    it("is chosen by Accept only when CSV is preferred at least as much as JSON", () => {
      const cases: [string | undefined, boolean][] = [
        [undefined, false],
        ["*/*", false],
        ["application/json", false],
        ["text/csv", true],
        ["text/csv;q=0", false],
        ["application/json, text/csv;q=0.5", false],
        ["application/json;q=0.5, TEXT/CSV", true],
        ["text/csvx", false],
        [",;,q=;text/csv;;", false],
      ];
      for (const [accept, expected] of cases) assert.equal(prefersCsv(accept), expected, accept);
    });
  });
});

/** A login as issued after the clock was changed. */
function loginOf(playerId: number): As {
  const claims = { roles: [], realm: "default", name: "Host", fam: "1" };
  const token = app.deps.tokens.sign("access", String(playerId), 60, claims);
  return { authorization: `Bearer ${token}` };
}

function sheetWith(names: string[]): ResultSheet {
  const seat = { isHost: false, accountId: null, joinedAt: 0, hasLeft: false, score: 0 };
  const totals = { bestStreak: 0, numCorrect: 0, numAnswered: 0, totalTimeMs: 0, xpGained: 0 };
  const result = {
    selectedIndex: -1,
    isCorrect: false,
    pointsEarned: 0,
    xpGained: 0,
    timeTakenMs: 5,
  };
  const question = {
    id: 7,
    category: "art",
    difficulty: "easy",
    question: "Why?",
    answers: ["a", "b", "c", "d"],
  };
  return {
    ...{ id: 1, code: "ABCDEF", realm: "default", maxPlayers: 8, createdAt: 0, startedAt: 0 },
    ...{ finishedAt: 0, endReason: "completed" },
    settings: {
      ...{ category: null, selected_categories: [], difficulty: null, prompt: null, blend: false },
      ...{ review: false, timer: 30, num_questions: 1, visibility: "public", mode: "versus" },
    },
    seats: names.map((name, id) => ({ ...seat, ...totals, id, name })),
    questions: [
      {
        ...question,
        ...{ index: 0, type: "multiple_choice", correctIndex: 0, explanation: "So.", startedAt: 0 },
        ...{ closedAt: 9, closedBy: "timer" },
        results: names.map((_, seatId) => ({ ...result, seatId, score: 0, streak: 0 })),
      },
    ],
  };
}

/** An independent RFC 4180 parser, so that the writer is not tested against itself. */
function parseCsv(text: string): string[][] {
  const lines: string[][] = [];
  let cells: string[] = [];
  const pattern = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy;
  for (const [, quoted, plain = "", end] of text.matchAll(pattern)) {
    cells.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === ",") continue;
    lines.push(cells);
    cells = [];
  }
  return lines;
}
