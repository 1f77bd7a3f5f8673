import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { startApp, type App } from "../../../support/app.ts";
import { fillBank } from "../runs/game.ts";
import { ask, lobbyOf, outcome, playing, type Table } from "./seats.ts";

let app: App;
before(async () => {
  // Nobody makes questions: as while the job workers are stopped.
  app = await startApp({ hasJobs: false });
  await fillBank(app, 20, ["music", "film", "art"]);
});
after(() => app.stop());

const post = (table: Table, action: string, body?: unknown, more: Record<string, string> = {}) =>
  ask(app, "POST", `/${table.code}/${action}`, body, { ...table.host.as, ...more });

const endless = (category: string) => playing(app, { numQuestions: null, category });

describe("an endless lobby while the generator is away", () => {
  it("never makes its host wait for the next question, and never asks one twice", async () => {
    const table = await endless("music");
    const asked = new Set<number>();
    // Twice what is stored for it in its category and difficulty, and beyond what is stored at all.
    for (let index = 0; index < 120; index++) {
      const locked = await post(table, "lock", { index });
      const id = locked.body.lobby.current_question?.id;
      assert.ok(id !== undefined && !asked.has(id), `question ${index}`);
      asked.add(id);
      assert.equal(outcome(await post(table, "next", { index })), "200", `after ${index}`);
    }
    const lobby = await lobbyOf(app, table.code);
    assert.deepEqual([lobby.status, lobby.current_index], ["in_progress", 120]);
  });

  it("moves on once for one key, though its first batch is played", async () => {
    const table = await endless("film");
    for (let index = 0; index < 9; index++) {
      await post(table, "lock", { index });
      await post(table, "next", { index });
    }
    await post(table, "lock");
    const key = { "idempotency-key": "once" };
    const answers = await Promise.all([1, 2, 3].map(() => post(table, "next", undefined, key)));
    assert.deepEqual(answers.map(outcome), ["200", "200", "200"]);
    assert.equal((await lobbyOf(app, table.code)).current_index, 10);
  });

  it("ends in order when there is no question left anywhere", async () => {
    const { questionBank, enqueueAndWait } = app.deps;
    app.deps.questionBank = { name: "mute", generate: async () => [] };
    app.deps.enqueueAndWait = async () => false;
    try {
      const table = await playing(app, {
        numQuestions: null,
        category: "music",
        difficulty: "phd",
      });
      let status = "in_progress";
      for (let index = 0; index < 200 && status === "in_progress"; index++) {
        await post(table, "lock", { index });
        const moved = await post(table, "next", { index });
        assert.equal(outcome(moved), "200", `after ${index}`);
        ({ status } = moved.body.lobby);
      }
      assert.equal(status, "finished");
    } finally {
      app.deps.questionBank = questionBank;
      app.deps.enqueueAndWait = enqueueAndWait;
    }
  });
});
