import type { JobDeps } from "../../deps.ts";
import type { Category } from "../../providers/question-model.ts";

/** What a prompt is about, one to five categories, best first (TRV-08). Never throws. */
export async function categorize(
  { questionModel, log }: Pick<JobDeps, "questionModel" | "log">,
  prompt: string,
): Promise<Category[]> {
  try {
    const found = (await questionModel.categorize?.(prompt)) ?? [];
    if (found.length > 0) return found;
  } catch (error) {
    log.warn({ err: error }, "prompt not categorized");
  }
  return ["general_knowledge"];
}
