import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { silentLogger } from "../../../../server/platform/log/logger.ts";
import { createMetrics } from "../../../../server/platform/metrics/metrics.ts";
import { createQuestionBank } from "../../../../server/features/questions/providers/question-bank/index.ts";
import type { QuestionModel } from "../../../../server/features/questions/providers/question-model.ts";
import { startJobs, type Jobs } from "../../../../workers/jobs.ts";
import { generateQuestions } from "../../../../workers/processors/question-generation.ts";
import { startApp, type App } from "../../../support/app.ts";
import { fillBank } from "../runs/game.ts";
import { ask, lobbyOf, outcome, playing, type Table } from "./seats.ts";

let app: App;

/** The library's connections to Redis, which it opens under these names. */
const queueConnections = /\bid=(\d+).*\bname=(?:queues|events-|worker-)/;

const post = (table: Table, action: string, body?: unknown, more: Record<string, string> = {}) =>
  ask(app, "POST", `/${table.code}/${action}`, body, { ...table.host.as, ...more });

const endless = (category: string) => playing(app, { numQuestions: null, category });

describe("endless lobbies", () => {
  before(async () => {
    // Nobody generates questions, as if the job workers were stopped.
    app = await startApp({ hasJobs: false });
    await fillBank(app, 20, ["music", "film", "art"]);
  });
  after(() => app.stop());

  describe("an endless lobby while the generator is unavailable", () => {
    it("never makes its host wait for the next question, and never repeats a question", async () => {
      const table = await endless("music");
      const asked = new Set<number>();
      // Twice the number stored in its category and difficulty, and more than are stored at all.
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

    it("advances once per idempotency key, even at the end of the first batch", async () => {
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

    it("ends in order when no question is left", async () => {
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
  describe("an endless lobby whose next batch is being generated", () => {
    let busy: App;
    let table: Table;
    let jobs: Jobs;
    let index: number;
    const processors = { "question-generation": generateQuestions };
    const model = createQuestionBank();
    before(async () => {
      busy = await startApp({ hasJobs: false });
      await fillBank(busy, 24, ["music", "film"]);
    });
    after(() => busy.stop());
    afterEach(() => jobs.close());

    /** Plays until a worker is asked for the next batch; it answers when released. */
    async function playUntilRequested(category: string): Promise<() => void> {
      const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const questionModel: QuestionModel = {
        ...model,
        generate: async (request) => {
          asked.resolve();
          await held.promise;
          return model.generate(request);
        },
      };
      const { deps, stores } = busy;
      jobs = await startJobs({
        ...{ redisUrl: stores.redisUrl, log: silentLogger, metrics: createMetrics(), processors },
        depsOf: () => ({ ...deps, em: deps.orm.em.fork(), questionModel }),
        closeMs: 50,
      });
      table = await playing(busy, { numQuestions: null, category });
      index = 0;
      await playTo(9);
      await asked.promise;
      return held.resolve;
    }

    async function playTo(end: number): Promise<void> {
      for (; index < end; index++)
        for (const action of ["lock", "next"]) {
          const path = `/${table.code}/${action}`;
          const moved = await ask(busy, "POST", path, { index }, table.host.as);
          assert.equal(outcome(moved), "200", `${action} of ${index}`);
        }
    }

    it("continues with the bank when the queue loses the job's lock and every connection", async () => {
      const release = await playUntilRequested("music");
      const { redis } = busy.deps;
      const locks = await redis.keys("jobs:question-generation:*:lock");
      assert.ok(locks.length > 0);
      await redis.del(locks);
      const clients = String(await redis.client("LIST")).split("\n");
      const ids = clients.flatMap((line) => queueConnections.exec(line)?.[1] ?? []);
      assert.ok(ids.length > 2, clients.join("\n"));
      await Promise.all(ids.map((id) => redis.client("KILL", "ID", id)));
      await playTo(40);
      release();
      // Whatever happens to the job: its questions are late or generated twice.
      await playTo(60);
    });

    it("continues with the bank when the job worker shuts down", async () => {
      const release = await playUntilRequested("film");
      await jobs.close();
      await playTo(40);
      release();
    });
  });
});
