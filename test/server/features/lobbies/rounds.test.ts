import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { startApp, type App } from "../../../support/app.ts";
import { manualClock } from "../../../support/clock.ts";
import { ask, lobbyOf, openTable, outcome, playing, tally, type Table } from "./seats.ts";

const minQuestionMs = 1_000;
const clock = manualClock();
let app: App;

type As = Record<string, string> | undefined;

const post = (code: string, action: string, as: As, body?: unknown) =>
  ask(app, "POST", `/${code}/${action}`, body, as);

const answer = (code: string, as: As, selected_index = 0, more: object = {}) =>
  post(code, "answer", as, { selected_index, time_taken_ms: 500, ...more });

const pick = (code: string, as: As, selected_index = 0, more: object = {}) =>
  post(code, "pick", as, { selected_index, ...more });

const versus = (others = 1, fields: object = {}) =>
  playing(app, { mode: "versus", ...fields }, others);

const others = (table: Table) => table.guests.map((guest) => guest.as);
const end = (table: Table) => post(table.code, "end", table.host.as);

describe("the rounds of a lobby", () => {
  before(async () => {
    app = await startApp({
      env: { LOBBY_MIN_QUESTION_MS: String(minQuestionMs) },
      clock,
    });
  });
  after(() => app.stop());

  describe("POST /lobbies/{code}/answer", () => {
    it("returns the result to the caller alone until everybody has answered", async () => {
      const table = await versus();
      const { code, host } = table;
      const first = await answer(code, host.as, 2);
      assert.equal(first.status, 200);
      const result = first.body;
      assert.equal(result["is_correct"], result["answer"] === 2);
      assert.equal(result["is_question_closed"], false);
      assert.equal(result["xp_gained"], result["is_correct"] ? 20 : 0);
      const open = await lobbyOf(app, code);
      assert.deepEqual(open.answered_player_ids, [host.id]);
      assert.equal(open.reveal, null);
      const hidden = open.players.map((one) => [one.score, one.streak, one.num_correct]);
      assert.deepEqual(hidden, [
        [0, 0, 0],
        [0, 0, 0],
      ]);
      const correct = Number(result["answer"]);
      const second = await answer(code, others(table)[0], correct);
      assert.deepEqual(
        [second.body["is_correct"], second.body["is_question_closed"], second.body["streak"]],
        [true, true, 1],
      );
      assert.equal(second.body["xp_gained"], 0, "an anonymous seat earns none");
      const closed = await lobbyOf(app, code);
      assert.equal(closed.reveal?.closed_by, "all_answered");
      assert.equal(closed.reveal.correct_index, correct);
      const mine = closed.reveal.results.find((one) => one.player_id === table.guests[0]?.id);
      assert.equal(mine?.points_earned, second.body["points_earned"]);
      assert.equal(mine?.score, second.body["score"]);
    });

    it("refuses an answer that does not fit the game", async () => {
      const table = await versus(2);
      const { code, host } = table;
      assert.equal((await answer(code, host.as, -1)).status, 200);
      assert.equal(outcome(await answer(code, host.as, 1)), "400 lobby:already_answered");
      const [one, two] = others(table);
      for (const index of [1, 99, 5_000])
        assert.equal(outcome(await answer(code, one, 0, { index })), "400 lobby:question_closed");
      assert.equal((await answer(code, one, 0, { index: 0 })).status, 200);
      assert.equal((await answer(code, two)).status, 200);
      assert.equal(outcome(await answer(code, two)), "400 lobby:question_closed");
      await end(table);
      assert.equal(outcome(await answer(code, two)), "400 lobby:not_in_progress");
      const coop = await playing(app);
      assert.equal(outcome(await answer(coop.code, coop.host.as)), "400 lobby:wrong_mode");
      const waiting = await openTable(app, { mode: "versus" });
      const early = await answer(waiting.code, waiting.host.as);
      assert.equal(outcome(early), "400 lobby:not_in_progress");
    });

    it("reports every wrong field at once", async () => {
      const { code, host } = await versus();
      const wrong: [unknown, string[]][] = [
        [undefined, ["selected_index", "time_taken_ms"]],
        [
          { selected_index: 4, time_taken_ms: 600_001, index: -1 },
          ["index", "selected_index", "time_taken_ms"],
        ],
        [
          { selected_index: -2, time_taken_ms: -1, index: "0" },
          ["index", "selected_index", "time_taken_ms"],
        ],
        [{ selected_index: 1.5, time_taken_ms: null }, ["selected_index", "time_taken_ms"]],
      ];
      for (const [body, fields] of wrong) {
        const refused = await post(code, "answer", host.as, body);
        assert.deepEqual([outcome(refused), refused.violations], ["422 validation:failed", fields]);
      }
    });

    it("repeats its response for the same key, even after the question is closed", async () => {
      const table = await versus();
      const { code } = table;
      const keyed = { ...table.host.as, "idempotency-key": "a1" };
      const tries = await Promise.all([1, 2, 3].map(() => answer(code, keyed, 1)));
      assert.deepEqual(tally(tries), { 200: 3 });
      for (const one of tries) assert.deepEqual(one.body, tries[0]?.body);
      await answer(code, others(table)[0]);
      assert.deepEqual((await answer(code, keyed, 1)).body, tries[0]?.body);
      const otherKey = { ...table.host.as, "idempotency-key": "a2" };
      assert.equal(outcome(await answer(code, otherKey, 1)), "400 lobby:question_closed");
    });

    it("accepts one of two concurrent answers from one seat", async () => {
      const { code, host } = await versus();
      const tries = await Promise.all([answer(code, host.as, 0), answer(code, host.bearer, 1)]);
      assert.deepEqual(tally(tries), { 200: 1, "400 lobby:already_answered": 1 });
      assert.deepEqual((await lobbyOf(app, code)).answered_player_ids, [host.id]);
    });

    it("accepts a lobby token without any login", async () => {
      const table = await versus(1, { numQuestions: 1 });
      const cookie = { cookie: `svc_lobby=${table.guests[0]?.token}` };
      assert.equal((await answer(table.code, cookie)).status, 200);
      assert.equal((await answer(table.code, table.host.as)).status, 200);
      const ended = await post(table.code, "next", table.host.as);
      assert.equal(ended.body.lobby.status, "finished");
      assert.equal(ended.body.lobby.players[1]?.account_id, null);
    });
  });
  describe("POST /lobbies/{code}/pick", () => {
    it("sets and changes a pick, which counts at the lock", async () => {
      const table = await playing(app, {}, 2);
      const { code, host } = table;
      const [one, two] = others(table);
      for (const [as, index] of [
        [one, 1],
        [host.as, 3],
        [one, 2],
      ] as const)
        assert.equal((await pick(code, as, index)).status, 204);
      const ids = [table.guests[0]?.id, host.id];
      assert.deepEqual((await lobbyOf(app, code)).answered_player_ids, ids);
      const { reveal } = (await post(code, "lock", host.as)).body.lobby;
      assert.equal(reveal?.closed_by, "lock");
      const chosen = new Map(reveal.results.map((each) => [each.player_id, each.selected_index]));
      assert.deepEqual(
        [host, ...table.guests].map((seat) => chosen.get(seat.id)),
        [3, 2, -1],
      );
      assert.equal(outcome(await pick(code, two, 1)), "400 lobby:question_closed");
    });

    it("refuses a pick that does not fit the game", async () => {
      const table = await playing(app);
      const { code, host } = table;
      const body = { selected_index: -1, index: 1.5 };
      assert.deepEqual((await post(code, "pick", host.as, body)).violations, [
        "index",
        "selected_index",
      ]);
      assert.equal(
        outcome(await pick(code, host.as, 0, { index: 1 })),
        "400 lobby:question_closed",
      );
      await end(table);
      assert.equal(outcome(await pick(code, host.as)), "400 lobby:not_in_progress");
      const other = await versus();
      assert.equal(outcome(await pick(other.code, other.host.as)), "400 lobby:wrong_mode");
      const waiting = await openTable(app);
      assert.equal(outcome(await pick(waiting.code, waiting.host.as)), "400 lobby:not_in_progress");
    });

    it("with the same key changes nothing the second time", async () => {
      const { code, host } = await playing(app);
      const keyed = { ...host.as, "idempotency-key": "p1" };
      assert.equal((await pick(code, keyed, 1)).status, 204);
      assert.equal((await pick(code, host.as, 2)).status, 204);
      assert.equal((await pick(code, keyed, 1)).status, 204);
      const { reveal } = (await post(code, "lock", host.as)).body.lobby;
      assert.equal(reveal?.results.find((one) => one.player_id === host.id)?.selected_index, 2);
    });
  });
  describe("POST /lobbies/{code}/lock", () => {
    it("reveals without any pick, and repeats the reveal", async () => {
      const { code, host } = await playing(app);
      const first = await post(code, "lock", host.as, { index: 0 });
      assert.equal(first.status, 200);
      assert.ok(first.body.lobby.reveal?.results.every((one) => one.selected_index === -1));
      const again = await post(code, "lock", host.as);
      assert.deepEqual(again.body.lobby.reveal, first.body.lobby.reveal);
      assert.equal(again.body.lobby.seq, first.body.lobby.seq);
    });

    it("refuses a lock that does not fit the game", async () => {
      const table = await playing(app);
      const { code, host } = table;
      const wrong = await post(code, "lock", host.as, { index: 2 });
      assert.equal(outcome(wrong), "400 lobby:question_closed");
      await end(table);
      assert.equal(outcome(await post(code, "lock", host.as)), "400 lobby:not_in_progress");
      const other = await versus();
      const locked = await post(other.code, "lock", other.host.as);
      assert.equal(outcome(locked), "400 lobby:wrong_mode");
      const waiting = await openTable(app);
      const early = await post(waiting.code, "lock", waiting.host.as);
      assert.equal(outcome(early), "400 lobby:not_in_progress");
    });
  });
  describe("POST /lobbies/{code}/next", () => {
    it("waits for the minimum time of an open question, then closes it and moves on", async () => {
      const { code, host } = await playing(app);
      const early = await post(code, "next", host.as);
      assert.equal(outcome(early), "400 lobby:too_early");
      const left = Number(early.params["retry_after_ms"]);
      assert.ok(left > 0 && left <= minQuestionMs, String(left));
      const before_ = await lobbyOf(app, code);
      clock.advance(left);
      const { lobby } = (await post(code, "next", host.as)).body;
      assert.equal(lobby.current_index, 1);
      assert.equal(lobby.current_question?.index, 1);
      assert.equal(lobby.reveal, null);
      assert.deepEqual(lobby.answered_player_ids, []);
      assert.equal(lobby.seq, before_.seq + 2, "the reveal and the question");
    });

    it("works at once after the reveal, and finishes after the last question", async () => {
      const { code, host } = await playing(app, { numQuestions: 2 });
      await post(code, "lock", host.as);
      assert.equal((await post(code, "next", host.as)).body.lobby.current_index, 1);
      await post(code, "lock", host.as);
      const { status, body } = await post(code, "next", host.as);
      assert.equal(status, 200);
      assert.deepEqual([body.lobby.status, body.lobby.current_index], ["finished", 1]);
      assert.equal(body.lobby.current_question, null);
      assert.equal(outcome(await post(code, "next", host.as)), "400 lobby:not_in_progress");
    });

    it("advances once when two calls name the same index at the same time", async () => {
      const { code, host } = await playing(app);
      await post(code, "lock", host.as);
      const twice = await Promise.all([
        post(code, "next", host.as, { index: 0 }),
        post(code, "next", host.bearer, { index: 0 }),
      ]);
      assert.deepEqual(tally(twice), { 200: 2 });
      for (const one of twice) assert.equal(one.body.lobby.current_index, 1);
      assert.equal((await lobbyOf(app, code)).current_index, 1);
      const wrong = await post(code, "next", host.as, { index: 2 });
      assert.equal(outcome(wrong), "400 lobby:question_closed");
    });

    it("repeats its response for the same key", async () => {
      const { code, host } = await playing(app);
      await post(code, "lock", host.as);
      const keyed = { ...host.as, "idempotency-key": "n1" };
      const tries = await Promise.all([1, 2, 3].map(() => post(code, "next", keyed)));
      for (const one of tries) assert.deepEqual(one.body, tries[0]?.body);
      assert.equal((await lobbyOf(app, code)).current_index, 1);
    });

    it("is refused while the lobby waits to start", async () => {
      const { code, host } = await openTable(app);
      assert.equal(outcome(await post(code, "next", host.as)), "400 lobby:not_in_progress");
    });
  });
  describe("POST /lobbies/{code}/reveal", () => {
    it("returns ok to every caller in every state, and reveals nothing of an open question", async () => {
      const waiting = await openTable(app);
      assert.deepEqual((await post(waiting.code, "reveal", undefined)).body, { ok: true });
      assert.equal((await lobbyOf(app, waiting.code)).seq, 0);
      const table = await playing(app);
      const calls = Array.from({ length: 20 }, () =>
        post(table.code.toLowerCase(), "reveal", undefined, "ignored"),
      );
      for (const call of await Promise.all(calls)) assert.deepEqual(call.body, { ok: true });
      const open = await lobbyOf(app, table.code);
      assert.equal(open.reveal, null);
      assert.ok(open.seq <= 3, `twenty calls published ${open.seq - 2}`);
      await end(table);
      assert.deepEqual((await post(table.code, "reveal", undefined)).body, { ok: true });
      const unknown = await post("ABCDEF", "reveal", undefined);
      assert.equal(outcome(unknown), "404 lobby:not_found");
    });
  });
  describe("POST /lobbies/{code}/end", () => {
    it("ends a waiting and a running lobby once, whatever the body", async () => {
      for (const { code, host } of [await openTable(app, {}, 1), await playing(app)]) {
        const first = await post(code, "end", host.as, "anything at all");
        assert.equal(first.status, 200);
        assert.equal(first.body.lobby.status, "finished");
        assert.notEqual(first.body.lobby.finished_at, null);
        const again = await post(code, "end", host.as, { index: "x" });
        assert.equal(again.status, 200);
        assert.equal(again.body.lobby.seq, first.body.lobby.seq);
      }
    });

    it("shows the played questions when the lobby has review enabled", async () => {
      const { code, host } = await openTable(app, { numQuestions: 1, category: "science" }, 1);
      await ask(app, "PATCH", `/${code}/settings`, { review: true }, host.as);
      await post(code, "start", host.as);
      await pick(code, host.as, 1);
      const running = await post(code, "lock", host.as);
      assert.ok(!("review_items" in running.body.lobby));
      const { lobby } = (await post(code, "next", host.as)).body;
      const [item] = lobby.review_items ?? [];
      assert.equal(item?.question.correct_index, running.body.lobby.reveal?.correct_index);
      assert.equal(item?.results.length, 2);
      assert.deepEqual((await lobbyOf(app, code)).review_items, lobby.review_items);
    });
  });
});
