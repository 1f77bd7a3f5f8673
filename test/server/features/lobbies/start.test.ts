import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createQuestionBank } from "../../../../server/features/questions/providers/question-bank/index.ts";
import type { QuestionModel } from "../../../../server/features/questions/providers/question-model.ts";
import { startApp, type App } from "../../../support/app.ts";
import { ask, lobbyOf, openTable, outcome, playing, tally } from "./seats.ts";

let app: App;

describe("settings and start of a lobby", () => {
  before(async () => {
    app = await startApp();
  });
  after(() => app.stop());

  describe("PATCH /lobbies/{code}/settings", () => {
    const patch = (code: string, body: unknown, as: Record<string, string>) =>
      ask(app, "PATCH", `/${code}/settings`, body, as);

    it("changes every documented field and nothing else", async () => {
      const { code, host } = await openTable(app, { category: "art", timer: 10 });
      const before_ = await lobbyOf(app, code);
      const changes = {
        difficulty: "postdoc",
        prompt: "Rivers?",
        selected_categories: ["Video Games", "music", "pop-culture"],
        timer: 60,
        blend: true,
        review: true,
        num_questions: 7,
        visibility: "private",
        mode: "versus",
      };
      const unknownFields = {
        status: "finished",
        host_name: "Eve",
        max_players: 2,
        id: 1,
        category: "music",
      };
      const answer = await patch(code, { ...changes, ...unknownFields }, host.as);
      assert.equal(answer.status, 204);
      const after_ = await lobbyOf(app, code);
      assert.deepEqual(after_, {
        ...before_,
        ...changes,
        selected_categories: ["video_games", "music", "pop_culture"],
        num_questions_requested: 7,
        is_endless: false,
        seq: before_.seq + 1,
        server_now_ms: after_.server_now_ms,
      });
    });

    it("accepts null for a field with a default, and an empty list", async () => {
      const { code, host } = await openTable(app, { timer: 10, numQuestions: 5, prompt: "x" });
      const nulls = { timer: null, num_questions: null, prompt: null, difficulty: null };
      const answer = await patch(code, { ...nulls, selected_categories: [] }, host.as);
      assert.equal(answer.status, 204);
      const lobby = await lobbyOf(app, code);
      assert.deepEqual([lobby.timer, lobby.num_questions, lobby.prompt], [30, null, null]);
      assert.equal(lobby.is_endless, true);
      await patch(code, { prompt: "  " }, host.as);
      assert.equal((await lobbyOf(app, code)).prompt, null);
    });

    it("without fields changes nothing and publishes no event", async () => {
      const { code, host } = await openTable(app);
      for (const body of [{}, undefined, { nobody: "knows" }])
        assert.equal((await patch(code, body, host.as)).status, 204);
      assert.equal((await lobbyOf(app, code)).seq, 0);
    });

    it("names every invalid field at once and changes nothing", async () => {
      const { code, host } = await openTable(app);
      const wrong = {
        difficulty: "trivial",
        prompt: "a\u0000",
        selected_categories: ["art", "nope", "music", "neither"],
        timer: 12,
        blend: "yes",
        review: 1,
        num_questions: 0,
        visibility: null,
        mode: "duel",
      };
      const answer = await patch(code, wrong, host.as);
      assert.equal(outcome(answer), "422 validation:failed");
      assert.deepEqual(answer.violations, [
        "blend",
        "difficulty",
        "mode",
        "num_questions",
        "prompt",
        "review",
        "selected_categories[1]",
        "selected_categories[3]",
        "timer",
        "visibility",
      ]);
      assert.equal((await lobbyOf(app, code)).seq, 0);
      const eleven = { selected_categories: Array.from({ length: 11 }, () => "art") };
      assert.deepEqual((await patch(code, eleven, host.as)).violations, ["selected_categories"]);
      const body = { selected_categories: ["art", 5], mode: "coop" };
      assert.deepEqual((await patch(code, body, host.as)).violations, ["selected_categories[1]"]);
    });

    it("is refused while the game runs and after it has ended", async () => {
      const { code, host } = await playing(app);
      const change = () => patch(code, { timer: 60 }, host.as);
      assert.equal(outcome(await change()), "400 lobby:not_waiting");
      await ask(app, "POST", `/${code}/end`, undefined, host.as);
      assert.equal(outcome(await change()), "400 lobby:not_waiting");
    });
  });
  describe("POST /lobbies/{code}/start", () => {
    it("draws the number asked for on a new service", async () => {
      const fields = { numQuestions: 40, category: "general_knowledge", difficulty: "medium" };
      const { code, host } = await openTable(app, fields, 1);
      const { lobby } = (await start(code, host.as)).body;
      assert.deepEqual([lobby.num_questions, lobby.num_questions_requested], [40, 40]);
    });

    it("shows the number drawn where fewer exist than were asked for", async () => {
      const bank = createQuestionBank();
      const generate: QuestionModel["generate"] = async (request) =>
        request.exclude.size > 0 ? [] : (await bank.generate(request)).slice(0, 6);
      const restore = useGenerators({ name: "small", generate });
      try {
        // Each of the ten difficulties has six questions, half of them for lobbies.
        const { code, host } = await openTable(
          app,
          { numQuestions: 40, category: "literature" },
          1,
        );
        const { lobby } = (await start(code, host.as)).body;
        assert.deepEqual([lobby.num_questions, lobby.num_questions_requested], [30, 40]);
        const read = await lobbyOf(app, code);
        assert.deepEqual([read.num_questions, read.num_questions_requested], [30, 40]);
      } finally {
        restore();
      }
    });

    describe("starts once", () => {
      it("returns the running lobby with its first question, without the correct answer", async () => {
        const fields = { category: "history", numQuestions: 3, difficulty: "easy", timer: 20 };
        const { code, host } = await openTable(app, fields, 1);
        const before_ = Date.now();
        const answer = await start(code, host.as);
        assert.equal(answer.status, 200);
        const { lobby } = answer.body;
        assert.equal(lobby.status, "in_progress");
        assert.equal(lobby.current_index, 0);
        assert.notEqual(lobby.started_at, null);
        const question = lobby.current_question;
        assert.ok(question);
        assert.equal(question.index, 0);
        assert.equal(question.category, "history");
        assert.equal(question.difficulty, "easy");
        assert.equal(new Set(question.payload.choices).size, 4);
        assert.equal(question.ends_at_ms - question.started_at_ms, 20_000);
        assert.equal(question.started_at_ms, lobby.current_question_started_at_ms);
        assert.ok(question.started_at_ms >= before_ && question.started_at_ms <= Date.now());
        assert.equal(lobby.reveal, null);
        const text = JSON.stringify(answer.body);
        assert.ok(!text.includes("correct_index") && !text.includes("explanation"));
      });

      it("requires two players", async () => {
        for (const mode of ["coop", "versus"]) {
          const { code, host } = await openTable(app, { mode });
          assert.equal(outcome(await start(code, host.as)), "400 lobby:not_enough_players");
        }
      });

      it("is refused for a running and for a finished game", async () => {
        const { code, host } = await playing(app);
        assert.equal(outcome(await start(code, host.as)), "400 lobby:already_started");
        await ask(app, "POST", `/${code}/end`, undefined, host.as);
        assert.equal(outcome(await start(code, host.as)), "400 lobby:already_started");
      });

      it("succeeds for exactly one of two concurrent calls", async () => {
        const { code, host } = await openTable(app, { numQuestions: 2, category: "nature" }, 1);
        const answers = await Promise.all([start(code, host.as), start(code, host.bearer)]);
        assert.deepEqual(tally(answers), { 200: 1, "400 lobby:already_started": 1 });
      });

      it("repeats its response for the same key", async () => {
        const { code, host } = await openTable(app, { numQuestions: 2, category: "nature" }, 1);
        const keyed = { ...host.as, "idempotency-key": "go" };
        const first = await start(code, keyed);
        const again = await start(code, keyed);
        assert.deepEqual(again.body.lobby, first.body.lobby);
        for (const key of ["k".repeat(129), "ke y", "ü"]) {
          const odd = await start(code, { ...host.as, "idempotency-key": key });
          assert.equal(outcome(odd), "400 request:invalid_query", key);
        }
      });

      it("draws no questions when a successful start is repeated, even by a second concurrent try", async () => {
        const fields = { numQuestions: 2, category: "technology", difficulty: "hard" };
        const { code, host } = await openTable(app, fields, 1);
        const keyed = { ...host.as, "idempotency-key": "go" };
        const countLive = () => app.deps.redis.zcard("live-questions:technology:hard");
        const first = await interrupted(
          () => start(code, keyed),
          () => ask(app, "PATCH", `/${code}/settings`, { timer: 45 }, host.as),
        );
        assert.equal(first.status, 200, JSON.stringify(first));
        const drawn = await countLive();
        const again = await start(code, keyed);
        assert.deepEqual(again.body.lobby, first.body.lobby);
        assert.equal(await countLive(), drawn);
        const late = await start(code, { ...host.as, "idempotency-key": "other" });
        assert.equal(outcome(late), "400 lobby:already_started");
      });
    });
    describe("draws its questions once", () => {
      it("draws once for concurrent calls under the same key", async () => {
        const fields = { numQuestions: 3, category: "geography", difficulty: "hard" };
        const { code, host } = await openTable(app, fields, 1);
        const keyed = { ...host.as, "idempotency-key": "go" };
        const answers = await Promise.all(Array.from({ length: 5 }, () => start(code, keyed)));
        const first = answers[0]?.body.lobby.current_question?.id;
        for (const { status, body } of answers)
          assert.deepEqual([status, body.lobby.current_question?.id], [200, first]);
        assert.equal(await app.deps.redis.zcard("live-questions:geography:hard"), 3);
      });

      it("plays with settings that changed while the questions were drawn", async () => {
        const { code, host } = await openTable(app, { numQuestions: 20, category: "sports" }, 1);
        const keyed = { ...host.as, "idempotency-key": "go" };
        const change = { selected_categories: ["music"], num_questions: 1 };
        const [started, changed] = await Promise.all([
          start(code, keyed),
          ask(app, "PATCH", `/${code}/settings`, change, host.as),
        ]);
        assert.deepEqual([started.status, changed.status], [200, 204], JSON.stringify(started));
        assert.equal(started.body.lobby.current_question?.category, "music");
        assert.equal((await lobbyOf(app, code)).num_questions, 1);
      });

      it("leaves the lobby waiting without available questions, and starts once there are some", async () => {
        const { code, host } = await openTable(app, { numQuestions: 1, category: "philosophy" }, 1);
        const restore = useGenerators({ name: "empty", generate: async () => [] });
        try {
          assert.equal(outcome(await start(code, host.as)), "503 generator:unavailable");
        } finally {
          restore();
        }
        assert.equal((await lobbyOf(app, code)).status, "waiting");
        assert.equal((await start(code, host.as)).status, 200);
      });

      it("repeats its response under its key when another try of it was abandoned", async () => {
        const { code, host } = await openTable(app, { numQuestions: 1, category: "music" }, 1);
        const keyed = { ...host.as, "idempotency-key": "go" };
        const seatId = (await lobbyOf(app, code)).players[0]?.id ?? null;
        const abandon = { type: "abandon_start", by: { seatId, playerId: null } } as const;
        const started = await interrupted(
          () => start(code, keyed),
          async () => void (await app.deps.lobbies.ask(code, abandon)),
        );
        assert.equal(outcome(started), "200");
        const repeated = await start(code, keyed);
        assert.equal(outcome(repeated), "200");
        assert.deepEqual(repeated.body.lobby.current_question, started.body.lobby.current_question);
        assert.equal(outcome(await start(code, host.as)), "400 lobby:already_started");
      });

      it("that failed takes precedence over a concurrent start when it is retried under its key", async () => {
        const { code, host } = await openTable(
          app,
          { numQuestions: 1, category: "mathematics" },
          1,
        );
        const keyed = { ...host.as, "idempotency-key": "go" };
        const restore = useGenerators({ name: "empty", generate: async () => [] });
        try {
          assert.equal(outcome(await start(code, keyed)), "503 generator:unavailable");
        } finally {
          restore();
        }
        let other = "";
        const repeated = await interrupted(
          () => start(code, keyed),
          async () => (other = outcome(await start(code, host.as))),
        );
        assert.deepEqual([outcome(repeated), other], ["200", "400 lobby:already_started"]);
      });
    });
  });
});

const start = (code: string, as: Record<string, string>) =>
  ask(app, "POST", `/${code}/start`, undefined, as);

/** Runs another action between the plan of a start and its draw. */
async function interrupted<T>(
  work: () => Promise<T>,
  meanwhile: () => Promise<unknown>,
): Promise<T> {
  const { lobbies } = app.deps;
  let isPlanned = false;
  const requestAndInterrupt: typeof lobbies.ask = async (...asked) => {
    const reply = await lobbies.ask(...asked);
    if (asked[1].type !== "prepare" || isPlanned) return reply;
    isPlanned = true;
    await meanwhile();
    return reply;
  };
  app.deps.lobbies = { ...lobbies, ask: requestAndInterrupt };
  return work().finally(() => (app.deps.lobbies = lobbies));
}

/** Replaces the generator and the bank; returns the undo. */
function useGenerators(model: QuestionModel): () => void {
  const { questionModel, questionBank } = app.deps;
  Object.assign(app.deps, { questionModel: model, questionBank: model });
  return () => void Object.assign(app.deps, { questionModel, questionBank });
}
