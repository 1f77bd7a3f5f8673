import type { Category } from "../question-model.ts";
import { draftTable, type Draft } from "./draft.ts";
import { readFacts } from "./facts.ts";
import { gradeDrafts, type QuestionsByDifficulty } from "./grade.ts";

const draftFacts = async (name: string) => (await readFacts(name)).flatMap(draftTable);

/** Sources of the drafts of a category. Facts are read at first use, never at startup. */
const sources: Record<Category, () => Promise<Draft[]>> = {
  general_knowledge: async () => {
    const { draftNumbers } = await import("./number-facts.ts");
    const numbers = await readFacts("numbers");
    return [...(await draftFacts("general-knowledge")), ...numbers.flatMap(draftNumbers)];
  },
  science: async () => {
    const { draftElements } = await import("./elements.ts");
    return [...(await draftFacts("science")), ...(await draftElements())];
  },
  nature: () => draftFacts("nature"),
  mathematics: async () => (await import("./mathematics.ts")).draftMathematics(),
  technology: () => draftFacts("technology"),
  history: () => draftFacts("history"),
  geography: async () => {
    const { draftCountries } = await import("./countries.ts");
    return [...(await draftFacts("geography")), ...(await draftCountries())];
  },
  politics: () => draftFacts("politics"),
  art: () => draftFacts("art"),
  literature: () => draftFacts("literature"),
  mythology: () => draftFacts("mythology"),
  religion: () => draftFacts("religion"),
  philosophy: () => draftFacts("philosophy"),
  music: () => draftFacts("music"),
  film: () => draftFacts("film"),
  television: () => draftFacts("television"),
  video_games: () => draftFacts("video-games"),
  sports: () => draftFacts("sports"),
  food_and_drink: () => draftFacts("food-and-drink"),
  pop_culture: () => draftFacts("pop-culture"),
};

/** Every question of one category by difficulty; the same seed gives the same questions. */
export async function loadCategory(
  category: Category,
  seed: string,
): Promise<QuestionsByDifficulty> {
  return gradeDrafts(await sources[category](), `${seed}:${category}`);
}
