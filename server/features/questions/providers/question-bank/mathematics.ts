import type { Draft } from "./draft.ts";
import { createRandom } from "./random.ts";
import { schoolLevels } from "./math-school.ts";
import { universityLevels } from "./math-university.ts";

const levels = [...schoolLevels, ...universityLevels];

const perLevel = 40;
const triesPerLevel = 400;

/** As many problems for each level, so that the grading by rank gives each difficulty its own kind. */
export function draftMathematics(): Draft[] {
  return levels.flatMap((makers, level) => {
    const random = createRandom(`mathematics ${level}`);
    const found = new Map<string, Draft>();
    for (let i = 0; i < triesPerLevel && found.size < perLevel; i++) {
      const maker = makers[i % makers.length];
      if (maker === undefined) break;
      const draft = { ...maker(random), hardness: level };
      if (draft.wrong.length >= 3) found.set(draft.question, draft);
    }
    return [...found.values()];
  });
}
