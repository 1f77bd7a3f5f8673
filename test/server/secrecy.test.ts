import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sql } from "kysely";
import { insertAnswers } from "../../db/queries/questions/question-answers.ts";
import { rowsOf } from "../../db/queries/rows.ts";
import { seedQuestions } from "../../db/seeds/questions.ts";
import { starterQuestions } from "../../server/features/questions/providers/question-bank/index.ts";
import type { AnyRoute } from "../../server/http/pipeline/route.ts";
import { routes } from "../../server/app/routes.ts";
import { startApp, type App } from "../support/app.ts";
import { openStream } from "../support/event-stream.ts";
import { registerAccount } from "../support/identity.ts";
import { leakOf, requestsFor, secretsOf, type Secret, type Secrets } from "../support/secrets.ts";
import { runner } from "./features/runs/game.ts";
import { ask, lobbyOf, playing, type Table } from "./features/lobbies/seats.ts";

/** Endpoints that would end the caller's own account or seat, or that return a stream. */
const skipped = new Set([
  "DELETE /v1/users/@me",
  "DELETE /v1/users/@me/sessions",
  "DELETE /v1/users/@me/sessions/{id}",
  "POST /v1/games/trivia/lobbies/{code}/leave",
  "GET /v1/hub",
]);

/** The API endpoints; pages are the same for everyone, and /v2 repeats /v1. */
const asked = routes.filter(
  ({ method, path }) => path.startsWith("/v1/") && !skipped.has(`${method} ${path}`),
);

/** Endpoints that play or show questions. */
const played = asked.filter(({ path }) => path.startsWith("/v1/games/"));
let app: App;
let list: Secret[];
let secrets: Secrets;
let table: Table;

/** Of the open question. */
let current: Secret;
const tables: Table[] = [];

/** Into the explanation of each competition question; a lobby or a run may have had more generated. */
async function plantCanaries(): Promise<void> {
  await rowsOf(
    app.deps.em,
    sql`update questions set explanation = 'canary ' || md5('c' || id) || ' sings'
      where pool = 'competition'`,
  );
  list = await rowsOf(
    app.deps.em,
    sql<Secret>`select id, question, md5('c' || id) as canary from questions
      where pool = 'competition'`,
  );
  secrets = secretsOf(list);
}

async function openQuestion(): Promise<Secret> {
  const { current_question } = await lobbyOf(app, table.code);
  return list.find(({ id }) => id === current_question?.id) ?? assert.fail("no open question");
}

async function account(): Promise<Record<string, string>> {
  const { session } = await registerAccount(app);
  return { authorization: `Bearer ${session.access_token}` };
}

/** Calls these endpoints with the id as this caller; no response may reveal anything. */
async function callAll(
  headers: Record<string, string>,
  { id, code, addresses = played }: { id: number; code: string; addresses?: AnyRoute[] },
): Promise<number> {
  let answered = 0;
  const words = {
    code,
    slug: "default",
    game: "sample",
    category: "random",
    categories: "art,science",
    difficulty: "easy",
    tz: "UTC",
    timezone: "UTC",
    date: "2026-01-01",
    prompt: "river",
  };
  for (const route of addresses) {
    for (const { method, path, body } of requestsFor(route, id, words)) {
      const hasBody = route.body !== undefined && method !== "GET";
      const call = { headers, ...(hasBody ? { body } : {}) };
      const answer = await app.client.request(method, path, call);
      const where = `${method} ${path} -> ${answer.status}`;
      assert.ok(answer.status < 500 || answer.status === 503, where);
      assert.equal(leakOf(answer.text, answer.json, secrets), null, where);
      if (answer.status < 400) answered++;
    }
  }
  return answered;
}

describe("the correct answer of a competition question", () => {
  before(async () => {
    app = await startApp();
    await seedQuestions(app.deps.em, () => starterQuestions(2));
    await plantCanaries();
    // No run has the id of a question, because answering one's own run would be no leak.
    await rowsOf(app.deps.em, sql`select setval(pg_get_serial_sequence('runs', 'id'), 1000000)`);
    for (const mode of ["versus", "coop"])
      tables.push(await playing(app, { mode, numQuestions: 3, timer: 60 }, 2));
    const [first] = tables;
    assert.ok(first);
    table = first;
    current = await openQuestion();
  });
  after(() => app.stop());

  describe("while the question is open", () => {
    it("is returned by no route to anyone while its question is open", async () => {
      const outsider = await account();
      const [guest] = table.guests;
      assert.ok(guest);
      for (const [headers, addresses, fewest] of [
        [outsider, asked, 50],
        [{}, played, 8],
        [guest.as, played, 10],
      ] as const) {
        const answered = await callAll(headers, { ...current, code: table.code, addresses });
        assert.ok(answered >= fewest, `only ${answered} calls were served: they are too tame`);
      }
      await callAll(await account(), { ...current, code: tables[1]?.code ?? "" });
      assert.equal((await openQuestion()).id, current.id, "the question is still open");
    });

    it("is returned by no route, even if the caller got the question wrong in another game", async () => {
      const { session } = await registerAccount(app);
      const headers = { authorization: `Bearer ${session.access_token}` };
      const playerId = session.player.id;
      const answer = { playerId, selectedIndex: 0, isCorrect: false, points: 0, xp: 0 };
      const other = list.find(({ id }) => id !== current.id) ?? assert.fail();
      const rest = { source: "lobby" as const, ref: null, at: new Date() };
      await insertAnswers(app.deps.em, [{ ...answer, ...rest, questionId: other.id }]);
      const kept = { question_id: current.id };
      const path = "/v1/games/trivia/favorites";
      assert.equal((await app.client.post(path, { headers, body: kept })).status, 201);
      await callAll(headers, { ...current, code: table.code });
      const again = "/v1/games/trivia/questions/draw?retry=true";
      const { body } = await app.client.get(again, { headers });
      assert.deepEqual(
        body,
        { question: null },
        "not even the question comes again outside its pool",
      );
    });
  });
  describe("after a player has answered", () => {
    it("is returned by a challenge run to a player who has answered, and only for that question", async () => {
      const [who, opponent] = [await runner(app), await runner(app)];
      const today = await who.today();
      await plantCanaries();
      for (const mode of ["daily_shuffle", "gauntlet"] as const) {
        const challenge = { challenge_id: today[mode].id };
        const { id: run, question } = await who.start(mode, challenge);
        assert.ok(secrets.byId.has(question.id), "of the competition pool");
        const silent = async (others = secrets) => {
          for (const answer of [
            await who.get(`/runs/${run}`),
            await who.get(`/challenges/today?tz=UTC`),
            await who.send("/runs", { mode, ...challenge }),
            await opponent.send("/runs", { mode, ...challenge }),
          ])
            assert.equal(leakOf(JSON.stringify(answer.json), answer.json, others), null);
        };
        await silent();
        await callAll(who.headers, { id: question.id, code: table.code });
        const told = await who.answer(run, 0);
        assert.equal(told.status, 200);
        assert.ok(JSON.stringify(told.json).includes(secrets.byId.get(question.id)?.canary ?? "?"));
        const others = secretsOf(list.filter(({ id }) => id !== question.id));
        assert.equal(leakOf(JSON.stringify(told.json), told.json, others), null);
        await silent(others);
        assert.equal((await who.advance(run)).status, 200);
        await silent();
        await callAll(opponent.headers, { id: question.id, code: table.code });
      }
    });

    it("appears on no page of the catalog", async () => {
      for (let offset = 0; ; offset += 100) {
        const answer = await app.client.get(
          `/v1/games/trivia/questions?limit=100&offset=${offset}`,
        );
        const { questions } = answer.body as { questions: { id: number }[] };
        assert.equal(leakOf(answer.text, answer.json, secrets), null);
        assert.ok(questions.every(({ id }) => !secrets.byId.has(id)));
        if (questions.length === 0) break;
      }
    });

    it("is sent to a player who has answered, and to nobody else before the reveal", async (t) => {
      const [guest] = table.guests;
      assert.ok(guest);
      const granted = await ask(app, "POST", `/${table.code}/token`, undefined, guest.as);
      const token = granted.headers.get("x-hub-token") ?? "";
      const topic = encodeURIComponent(`/games/trivia/lobby/${table.code}`);
      const stream = openStream(`${app.url}/v1/hub?topic=${topic}`, { token });
      t.after(() => stream.close());
      await stream.waitFor(({ event }) => event === "lobby.snapshot", "a snapshot");
      const given = { selected_index: 0, time_taken_ms: 10 };
      const own = await ask(app, "POST", `/${table.code}/answer`, given, table.host.as);
      assert.ok(JSON.stringify(own.body).includes(current.canary), "the host's own answer tells");
      await stream.waitFor(({ event }) => event === "lobby.answer", "the answer");
      for (const frame of stream.frames)
        assert.equal(leakOf(JSON.stringify(frame), frame.data, secrets), null, frame.event);
      await callAll(await account(), { ...current, code: table.code });
      const again = await ask(app, "POST", `/${table.code}/answer`, given, table.host.as);
      assert.equal(again.code, "lobby:already_answered");
      for (const seat of table.guests)
        await ask(
          app,
          "POST",
          `/${table.code}/answer`,
          { selected_index: 1, time_taken_ms: 10 },
          seat.as,
        );
      const reveals = (frame: unknown) => JSON.stringify(frame).includes(current.canary);
      const reveal = await stream.waitFor(reveals, "the reveal");
      assert.equal(reveal.event, "lobby.reveal");
      const { reveal: shown } = await lobbyOf(app, table.code);
      assert.equal(shown?.question_id, current.id);
    });
  });
});
