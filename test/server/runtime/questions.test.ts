import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Questions, type AskMessage } from "../../../server/runtime/process-questions.ts";

const timeoutMs = 60_000;

describe("requests to another process", () => {
  it("resolve to their answers, in whatever order the answers arrive", async () => {
    const sent: AskMessage[] = [];
    const questions = new Questions((message) => sent.push(message), 2);
    const answers = Promise.all(["metrics", "processes"].map((_, i) => ask(questions, i)));
    for (const { id, question } of sent.toReversed())
      questions.receive({ type: "answer", id, value: `${question} of it` });
    assert.deepEqual(await answers, ["metrics of it", "processes of it"]);
  });

  it("resolve to nothing when no answer arrives in time, and ignore a late one", async () => {
    const sent: AskMessage[] = [];
    const questions = new Questions((message) => sent.push(message), 1);
    assert.equal(await questions.ask("metrics", 1), null);
    questions.receive({ type: "answer", id: sent[0]?.id ?? 0, value: "late" });
  });

  it("wait up to their limit; one more is not sent", async () => {
    const sent: AskMessage[] = [];
    const questions = new Questions((message) => sent.push(message), 2);
    const waiting = [ask(questions, 0), ask(questions, 1)];
    assert.equal(await ask(questions, 0), null);
    assert.equal(sent.length, 2);
    for (const { id } of sent) questions.receive({ type: "answer", id, value: id });
    assert.deepEqual(await Promise.all(waiting), [1, 2]);
    const next = ask(questions, 0);
    questions.receive({ type: "answer", id: sent[2]?.id ?? 0, value: "free again" });
    assert.equal(await next, "free again");
  });
});

const ask = (questions: Questions, i: number) =>
  questions.ask(i === 0 ? "metrics" : "processes", timeoutMs);
