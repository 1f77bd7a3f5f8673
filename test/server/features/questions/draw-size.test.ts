import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { seedQuestions } from "../../../../db/seeds/questions.ts";
import { drawForLobby } from "../../../../server/features/questions/lobby-draw.ts";
import { starterQuestions } from "../../../../server/features/questions/providers/question-bank/index.ts";
import type {
  GeneratedQuestion,
  QuestionModel,
  QuestionRequest,
} from "../../../../server/features/questions/providers/question-model.ts";
import { manualClock } from "../../../support/clock.ts";
import { idsIn, idsOf, jobs, plan, startsDrawJobs } from "./draw-jobs.ts";

type Deps = typeof jobs.deps;

const withParts = (parts: Partial<Deps>): Deps =>
  Object.create(
    jobs.deps,
    Object.fromEntries(Object.entries(parts).map(([name, value]) => [name, { value }])),
  );

/** A generator that never runs out, and the batches it has made. */
function endlessModel(): QuestionModel & { batches: QuestionRequest[] } {
  const batches: QuestionRequest[] = [];
  let made = 0;
  const next = (): GeneratedQuestion => {
    const word = (made++).toString(26).replace(/\d/g, (digit) => "qrstuvwxyz"[Number(digit)] ?? "");
    return {
      question: `Which pigment did the painter of the ${word} canvas prefer?`,
      choices: ["Ochre", "Umber", "Sienna", "Cobalt"],
      correctIndex: 0,
      explanation: "The inventory of the studio names it.",
      estimatedRate: 50,
    };
  };
  const generate = async (request: QuestionRequest) => {
    batches.push(request);
    return Array.from({ length: request.count }, next);
  };
  return { name: "endless", generate, batches };
}

const mute: QuestionModel = { name: "mute", generate: async () => [] };

describe("the number of questions of a game", () => {
  startsDrawJobs();

  it("is the number asked for on a new service, of the asked difficulty as far as there are any", async () => {
    await seedQuestions(jobs.deps.em, () => starterQuestions(4));
    for (const category of ["general_knowledge", "religion", "science"]) {
      const drawn = await drawForLobby(jobs.deps, plan({ category, count: 40 }));
      assert.equal(new Set(idsOf(drawn)).size, 40, category);
      const medium = drawn.filter((one) => one.difficulty === "medium");
      assert.equal(medium.length, (await idsIn("competition", category)).length, category);
      const near = new Set(drawn.map((one) => one.difficulty));
      near.delete("medium");
      assert.ok(
        [...near].every((name) => ["middle_school", "high_school", "easy"].includes(name)),
        `${category}: ${[...near].join()}`,
      );
    }
  });

  it("makes as many batches as a long game needs", async () => {
    const model = endlessModel();
    jobs.use(model);
    const drawn = await drawForLobby(withParts({ questionBank: mute }), plan({ count: 100 }));
    assert.equal(new Set(idsOf(drawn)).size, 100);
    assert.ok(drawn.every((one) => one.difficulty === "medium" && !one.isCached));
    assert.equal(model.batches.length, 10, "half of each batch is for the public pool");
  });

  it("stops asking a generator that makes little, after a bounded number of batches", async () => {
    const model = endlessModel();
    const generate = async (request: QuestionRequest) => model.generate({ ...request, count: 2 });
    jobs.use({ name: "stingy", generate });
    const drawn = await drawForLobby(withParts({ questionBank: mute }), plan({ count: 40 }));
    assert.deepEqual([drawn.length, model.batches.length], [7, 7]);
  });

  it("is completed from the bank when the generator takes too long, within 20 s", async () => {
    const clock = manualClock(Date.parse("2026-05-10T11:00:00Z"));
    const model = endlessModel();
    jobs.use(model);
    const waits: number[] = [];
    const enqueueAndWait: Deps["enqueueAndWait"] = async (definition, payload, origin, waitMs) => {
      waits.push(waitMs);
      const isSlow = waits.length > 1;
      clock.advance(isSlow ? waitMs : 9_000);
      return isSlow ? false : jobs.deps.enqueueAndWait(definition, payload, origin, waitMs);
    };
    const drawn = await drawForLobby(withParts({ clock, enqueueAndWait }), plan({ count: 25 }));
    assert.equal(new Set(idsOf(drawn)).size, 25);
    assert.ok(drawn.every((one) => one.difficulty === "medium"));
    assert.equal(model.batches.length, 1);
    assert.deepEqual(waits, [18_000, 9_000]);
  });

  it("takes other difficulties from the bank when nothing else is stored", async () => {
    jobs.use(mute);
    const drawn = await drawForLobby(jobs.deps, plan({ category: "philosophy", count: 30 }));
    assert.equal(new Set(idsOf(drawn)).size, 30);
    const medium = drawn.filter((one) => one.difficulty === "medium").length;
    assert.equal(medium, (await idsIn("competition", "philosophy")).length);
  });
});
