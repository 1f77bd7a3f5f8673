import { cutText } from "../../../platform/text/cut-text.ts";
import type { Config } from "../../../platform/config/config.ts";
import type { WithFaults, WithLog, WithMetrics } from "../../../platform/capabilities.ts";
import type { Origin } from "../../../platform/origin.ts";
import { recordDegraded } from "../../../platform/faults/degraded.ts";
import { createChatModel, type ChatParts } from "./chat/index.ts";
import { createQuestionBank } from "./question-bank/index.ts";
import type { QuestionModel } from "./question-model.ts";

/** The configured generator: the bank, or a language model with the bank as fallback (TRV-03). */
export function createQuestionModel(config: Config, parts: ChatParts): QuestionModel {
  const bank = createQuestionBank();
  if (config.GENERATOR_URL === "") return bank;
  return withFallback(createChatModel(config, parts), bank, parts);
}

/** Calls `first`, and `second` when that fails or has nothing. */
export function withFallback(
  first: QuestionModel,
  second: QuestionModel,
  deps: WithLog & WithMetrics & WithFaults,
): QuestionModel {
  const attempt = async <T>(origin: Origin, work: Promise<T[]> | undefined): Promise<T[]> => {
    try {
      return (await work) ?? [];
    } catch (error) {
      const reason = error instanceof Error ? `${error.name}: ${error.message}` : "unknown";
      deps.log.warn(
        { event: "generator_failed", generator: first.name, reason: cutText(reason, 300) },
        "generator failed, the question bank answers",
      );
      recordDegraded(deps, "question-generator", error, origin);
      return [];
    }
  };
  return {
    name: first.name,
    generate: async (request) => {
      const found = await attempt(request.origin, first.generate(request));
      if (found.length > 0) return found;
      const rest = await second.generate(request);
      deps.metrics.generatedQuestions.inc(
        { source: second.name, outcome: "fallback" },
        rest.length,
      );
      return rest.map((question) => ({ ...question, source: second.name }));
    },
    // The bank's words are free, so they are tried first (TRV-08).
    categorize: async (prompt, origin) => {
      const known = (await second.categorize?.(prompt, origin)) ?? [];
      return known.length > 0 ? known : attempt(origin, first.categorize?.(prompt, origin));
    },
  };
}
