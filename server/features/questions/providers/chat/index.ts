import type { Config } from "../../../../platform/config/config.ts";
import type {
  WithClock,
  WithFaults,
  WithLog,
  WithMetrics,
  WithRedis,
} from "../../../../platform/capabilities.ts";
import { recordDegraded } from "../../../../platform/faults/degraded.ts";
import { peerOf } from "../../../../platform/faults/http-fault.ts";
import type { Metrics } from "../../../../platform/metrics/metrics.ts";
import type { GeneratedQuestion, QuestionModel, QuestionRequest } from "../question-model.ts";
import { readKeys, readQuestions, readModelChoices, type Read } from "./answers.ts";
import { createBudget } from "./budget.ts";
import { createChatClient, type Ask } from "./client.ts";
import { generatorFault } from "./generator-fault.ts";
import { createPolicies, usualTiming, type Run, type Timing } from "./policies.ts";
import { modelsOf, pricesOf } from "./settings.ts";
import { categorizePrompt, generatePrompt, verifyPrompt } from "./prompts.ts";

export interface ChatParts extends WithRedis, WithClock, WithLog, WithMetrics, WithFaults {
  timing?: Timing;
}

/** Minimum remaining time for a second call. */
const shortestVerifyMs = 2_000;
const categorizeMs = 5_000;

/**
 * Questions from a language model behind `GENERATOR_URL` (TRV-03, TRV-04, TRV-05, TRV-13). Throws when it is down,
 * out of budget or overloaded: `withFallback` then uses the bank.
 */
export function createChatModel(config: Config, parts: ChatParts): Required<QuestionModel> {
  const { metrics, log, timing = usualTiming } = parts;
  const models = modelsOf(config);
  const policies = createPolicies(config.GENERATOR_CONCURRENCY, timing, (isOpen) =>
    metrics.generatorBroken.set(isOpen ? 1 : 0),
  );
  const peer = peerOf(new URL(config.GENERATOR_URL));
  const run: Run = (limitMs, work) =>
    policies(limitMs, work).catch((error: unknown) => {
      throw generatorFault(error, peer);
    });
  const settings = {
    url: config.GENERATOR_URL,
    key: config.GENERATOR_KEY,
    prices: pricesOf(config),
  };
  const budget = createBudget(parts, config.GENERATOR_DAILY_TOKENS);
  const ask = createChatClient(settings, { metrics, log, budget });
  return {
    name: "http",
    generate: async (request) => {
      const model = request.model ?? models[0];
      const until = performance.now() + timing.limitMs;
      const { questions, dropped } = await generate({ run, ask, model, timing }, request);
      count(metrics, "kept", questions.length);
      for (const [outcome, number] of Object.entries(dropped)) count(metrics, outcome, number);
      const left = until - performance.now();
      if (!config.GENERATOR_VERIFY || questions.length === 0 || left < shortestVerifyMs)
        return questions;
      const verified = await verify({ run, ask, model, left }, questions).catch(
        (error: unknown) => {
          // The questions were valid before; their difficulty is measured in play.
          log.warn(
            { event: "verification_failed", err: error },
            "generated questions not verified, used as they are",
          );
          recordDegraded(parts, "question-verification", error, request.origin);
          return questions;
        },
      );
      count(metrics, "disputed", questions.length - verified.length);
      return verified;
    },
    categorize: (prompt) =>
      run(categorizeMs, async (signal) =>
        readKeys(await ask(categorizePrompt(prompt), models[0], signal)),
      ),
  };
}

interface Call {
  run: Run;
  ask: Ask;
  model: string;
}

function generate(
  { run, ask, model, timing }: Call & { timing: Timing },
  request: QuestionRequest,
): Promise<Read> {
  const prompt = generatePrompt(request);
  return run(timing.limitMs, async (signal) =>
    readQuestions(await ask(prompt, model, signal), request.difficulty, request.exclude),
  );
}

/** Drops questions that the model answers differently in a second call. */
async function verify(
  { run, ask, model, left }: Call & { left: number },
  questions: GeneratedQuestion[],
): Promise<GeneratedQuestion[]> {
  const prompt = verifyPrompt(questions);
  const verdicts = await run(left, async (signal) =>
    readModelChoices(await ask(prompt, model, signal)),
  );
  return questions.filter(({ correctIndex }, number) => {
    const said = verdicts.get(number);
    return said === undefined || said === correctIndex;
  });
}

function count(metrics: Metrics, outcome: string, number: number): void {
  if (number > 0) metrics.generatedQuestions.inc({ source: "http", outcome }, number);
}
