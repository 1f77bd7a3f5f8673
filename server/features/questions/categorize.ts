import type { WithLog } from "../../platform/capabilities.ts";
import { categories, type Category, type QuestionModel } from "./providers/question-model.ts";

interface CategorizeDeps extends WithLog {
  questionModel: QuestionModel;
}

/** What a prompt is about, one to five categories, best first (TRV-08). Never throws. */
export async function categorize(deps: CategorizeDeps, prompt: string): Promise<Category[]> {
  const found = await subjectsOf(deps, prompt);
  return found.length > 0 ? found : ["general_knowledge"];
}

/**
 * What `random` picks from (TRV-01): every category, with a prompt those it is about, since in the
 * others hardly anything fits it.
 */
export async function openCategories(
  deps: CategorizeDeps,
  prompt: string | null,
): Promise<readonly Category[]> {
  const found = prompt?.trim() ? await subjectsOf(deps, prompt) : [];
  return found.length > 0 ? found : categories;
}

async function subjectsOf(
  { questionModel, log }: CategorizeDeps,
  prompt: string,
): Promise<Category[]> {
  try {
    return (await questionModel.categorize?.(prompt)) ?? [];
  } catch (error) {
    log.warn(
      { event: "categorization_failed", err: error },
      "prompt not categorized, all categories are drawn from",
    );
    return [];
  }
}
