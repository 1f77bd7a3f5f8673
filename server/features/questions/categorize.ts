import { recordDegraded } from "../../platform/faults/degraded.ts";
import type { WithFaults, WithLog, WithOrigin } from "../../platform/capabilities.ts";
import { categories, type Category, type QuestionModel } from "./providers/question-model.ts";

interface CategorizeDeps extends WithLog, WithFaults, WithOrigin {
  questionModel: QuestionModel;
}

/** Categories of a prompt, one to five, best first (TRV-08). Never throws. */
export async function categorize(deps: CategorizeDeps, prompt: string): Promise<Category[]> {
  const found = await subjectsOf(deps, prompt);
  return found.length > 0 ? found : ["general_knowledge"];
}

/**
 * Candidates of `random` (TRV-01): all categories, or those of the prompt, since others hardly have matching
 * questions.
 */
export async function openCategories(
  deps: CategorizeDeps,
  prompt: string | null,
): Promise<readonly Category[]> {
  const found = prompt?.trim() ? await subjectsOf(deps, prompt) : [];
  return found.length > 0 ? found : categories;
}

async function subjectsOf(deps: CategorizeDeps, prompt: string): Promise<Category[]> {
  try {
    return (await deps.questionModel.categorize?.(prompt, deps.origin)) ?? [];
  } catch (error) {
    deps.log.warn(
      { event: "categorization_failed", err: error },
      "prompt not categorized, all categories are drawn from",
    );
    recordDegraded(deps, "prompt-categories", error, deps.origin);
    return [];
  }
}
