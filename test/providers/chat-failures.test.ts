import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { noFaults } from "../../server/platform/faults/recorder.ts";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { withFallback } from "../../server/features/questions/providers/generator.ts";
import { createQuestionBank } from "../../server/features/questions/providers/question-bank/index.ts";
import { eventually } from "../support/eventually.ts";
import { startChatServer } from "../support/chat-server.ts";
import {
  redis,
  metrics,
  clock,
  chat,
  ask,
  written,
  batch,
  create,
  outcomes,
  stopAndStart,
  startsChatServer,
} from "./chat-model.ts";
import { noOrigin } from "../../server/platform/origin.ts";

describe("the language-model driver in trouble", () => {
  startsChatServer();

  describe("a failing server", () => {
    it("is retried after transient errors, with growing delays or the delay it asks for", async () => {
      const good = batch(written(1));
      for (const status of [408, 409, 429, 500, 502, 503])
        await (async () => {
          chat.script({ status }, { status, headers: { "retry-after-ms": "1" } }, good);
          assert.equal((await create().generate(ask())).length, 1, String(status));
          assert.equal(chat.requests.length, 3);
        })();
      chat.script({ status: 429 });
      await assert.rejects(create().generate(ask()), { status: 429 });
      assert.equal(chat.requests.length, 3, "no more than two repetitions");
    });

    it("is not retried after a refusal or a long Retry-After", async () => {
      for (const reaction of [
        { status: 400 },
        { status: 401 },
        { status: 404 },
        { status: 429, headers: { "retry-after": "3600" } },
      ]) {
        chat.script(reaction);
        await assert.rejects(create().generate(ask()), { status: reaction.status });
        assert.equal(chat.requests.length, 1);
      }
    });

    it("times out when it is slow", async () => {
      chat.script({ kind: "hang" });
      await assert.rejects(create({}, { limitMs: 150 }).generate(ask()), /timed out/i);
    });

    it("cannot redirect a request to another address", async () => {
      chat.script({ status: 307, headers: { location: `${chat.url}/elsewhere` } });
      await assert.rejects(create({}, { limitMs: 2_000 }).generate(ask()));
      assert.ok(chat.requests.every((request) => request.path === "/v1/chat/completions"));
    });

    it("opens the circuit breaker after three failures, until one trial call succeeds", async (t) => {
      const breakMs = 60_000;
      const model = create({}, { breakMs });
      chat.script({ status: 500 });
      for (let n = 0; n < 3; n++) await assert.rejects(model.generate(ask()), { status: 500 });
      await assert.rejects(model.generate(ask()), /breaker is open/);
      assert.equal(chat.requests.length, 9, "each was tried three times");
      assert.deepEqual(await outcomes(metrics.generatorBroken), { "": 1 });
      chat.script(batch(written(1)));
      const later = Date.now() + breakMs;
      t.mock.method(Date, "now", () => later);
      assert.equal((await model.generate(ask())).length, 1);
      assert.deepEqual(await outcomes(metrics.generatorBroken), {});
    });

    it("opens the circuit breaker when it only answers 429 or times out", async () => {
      for (const [reaction, limitMs] of [
        [{ status: 429 }, 8_000],
        [{ kind: "hang" }, 50],
      ] as const) {
        const model = create({}, { limitMs });
        chat.script(reaction);
        for (let n = 0; n < 3; n++) await assert.rejects(model.generate(ask()));
        await new Promise(setImmediate);
        await assert.rejects(model.generate(ask()), /breaker is open/, JSON.stringify(reaction));
      }
    });

    it("keeps the breaker closed after requests that only it refuses or answers with unusable text", async () => {
      const model = create();
      for (const reaction of [{ status: 400 }, { text: "Sure! Here are your questions." }]) {
        chat.script(reaction);
        for (let n = 0; n < 3; n++)
          await assert.rejects(
            model.generate(ask()),
            (error: Error) => !/breaker/.test(error.message),
          );
      }
      assert.deepEqual(await outcomes(metrics.generatorBroken), {});
      chat.script(batch(written(1)));
      assert.equal((await model.generate(ask())).length, 1);
    });

    it("receives a limited number of concurrent calls; the others wait in a bounded queue", async () => {
      let [running, maxRunning] = [0, 0];
      const model = create({ GENERATOR_CONCURRENCY: "2" }, { limitMs: 5_000 });
      chat.script(() => {
        running++;
        maxRunning = Math.max(maxRunning, running);
        return { kind: "hang" };
      });
      const calls = Array.from({ length: 2 + 16 + 3 }, () => model.generate(ask()));
      const settled = Promise.allSettled(calls);
      const refused = await Promise.all(
        calls.slice(18).map((call) =>
          call.then(
            () => "",
            (error: Error) => error.message,
          ),
        ),
      );
      assert.ok(
        refused.every((message) => /bulkhead/i.test(message)),
        refused.join(),
      );
      assert.ok(maxRunning <= 2, String(maxRunning));
      await stopAndStart();
      await settled;
    });
  });
  describe("the daily budget", () => {
    const usage = { prompt_tokens: 60, completion_tokens: 50 };

    it("stops calls when it is spent, and resets with the UTC day", async () => {
      const model = create({ GENERATOR_DAILY_TOKENS: "100" });
      const other = create({ GENERATOR_DAILY_TOKENS: "100" });
      chat.script({ ...batch(written(1)), usage });
      assert.equal((await model.generate(ask())).length, 1);
      for (const one of [model, other, model, other, model])
        await assert.rejects(one.generate(ask()), { code: "generator.budget" });
      assert.equal(chat.requests.length, 1);
      assert.deepEqual(await outcomes(metrics.generatorBroken), {}, "that is no failure");
      clock.advance(86_400_000);
      assert.equal((await model.generate(ask())).length, 1);
    });

    it("counts unusable responses", async () => {
      chat.script({ ...{ value: { nothing: true } }, usage });
      await assert.rejects(create({ GENERATOR_DAILY_TOKENS: "150" }).generate(ask()), {
        code: "generator.budget",
      });
      assert.equal(chat.requests.length, 2);
    });

    it("estimates token counts that are too large to be true", async () => {
      const model = create({ GENERATOR_DAILY_TOKENS: "100" });
      chat.script({ ...batch(written(1)), usage: { ...usage, prompt_tokens: 1e300 } });
      await model.generate(ask());
      await assert.rejects(model.generate(ask()), { code: "generator.budget" });
    });
  });
  describe("a failed call", () => {
    const spent = async () => {
      const [key] = await redis.keys("generator-tokens:*");
      return key === undefined ? 0 : Number(await redis.get(key));
    };

    it("is charged its maximum cost when it times out, is cut off, is too long or is unreadable", async () => {
      for (const [reaction, calls] of [
        [{ kind: "hang" }, 1],
        [{ kind: "cut" }, 3],
        [{ kind: "flood" }, 3],
        [{ status: 200, body: "<html>" }, 3],
      ] as const) {
        await redis.flushall();
        chat.script(reaction);
        await assert.rejects(create({}, { limitMs: 1_500 }).generate(ask()));
        assert.equal(chat.requests.length, calls, JSON.stringify(reaction));
        const each = (await untilSpent(calls)) / calls;
        assert.ok(each > 8_192 && each < 9_000, `${JSON.stringify(reaction)}: ${each}`);
      }
    });

    it("costs nothing when it was refused or never reached the server", async () => {
      chat.script({ status: 429 });
      await assert.rejects(create().generate(ask()));
      const stoppedServer = await startChatServer();
      await stoppedServer.stop();
      const unreachable = create({ GENERATOR_URL: stoppedServer.url });
      await assert.rejects(unreachable.generate(ask()), {
        code: "generator.unreachable",
        message: /ECONNREFUSED/,
      });
      assert.equal(await spent(), 0);
    });

    /** An abandoned call is counted after its caller was answered. */
    async function untilSpent(calls: number): Promise<number> {
      await eventually("counted", async () => (await spent()) > calls * 8_192);
      return spent();
    }
  });
  describe("backed by the question bank", () => {
    const both = (env = {}, timing = {}) =>
      withFallback(create(env, timing), createQuestionBank(), {
        log: silentLogger,
        metrics,
        faults: noFaults,
      });

    it("returns questions of the bank when the model has none, and names the bank as their source", async () => {
      for (const reaction of [{ status: 400 }, batch(), { text: "no" }]) {
        chat.script(reaction);
        const list = await both().generate(ask());
        assert.deepEqual(
          list.map((one) => one.source),
          ["bank", "bank", "bank"],
        );
      }
      chat.script(batch(written(1)));
      assert.equal((await both().generate(ask()))[0]?.source, "http");
    });

    it("asks the model for the categories of a prompt only when the bank has none", async () => {
      chat.script({ value: { categories: ["film", "nonsense", "art", "film"] } });
      assert.equal((await both().categorize?.("Beethoven", noOrigin))?.[0], "music");
      assert.equal(chat.requests.length, 0);
      assert.deepEqual(await both().categorize?.("zxqwv", noOrigin), ["film", "art"]);
      assert.ok(!chat.requests[0]?.messages[0]?.content.includes("zxqwv"));
      chat.script({ status: 400 });
      assert.deepEqual(await both().categorize?.("zxqwv", noOrigin), []);
    });
  });
});
