import type { Category } from "../question-model.ts";
import { draftTable, type Draft, type Table } from "./draft.ts";
import { gradeDrafts, type Shelf } from "./grade.ts";

const fromTables = (tables: readonly Table[]) => tables.flatMap(draftTable);

/** Where the drafts of a category come from. Modules load when first asked for, never at start. */
const sources: Record<Category, () => Promise<Draft[]>> = {
  general_knowledge: async () => {
    const { numberFacts, tables } = await import("./facts/general-knowledge.ts");
    const { draftNumbers } = await import("./facts/number-facts.ts");
    return [...fromTables(tables), ...draftNumbers(numberFacts)];
  },
  science: async () => {
    const { draftElements } = await import("./facts/elements.ts");
    return [...fromTables((await import("./facts/science.ts")).tables), ...(await draftElements())];
  },
  nature: async () => fromTables((await import("./facts/nature.ts")).tables),
  mathematics: async () => (await import("./facts/mathematics.ts")).draftMathematics(),
  technology: async () => fromTables((await import("./facts/technology.ts")).tables),
  history: async () => fromTables((await import("./facts/history.ts")).tables),
  geography: async () => {
    const { draftCountries } = await import("./facts/countries.ts");
    return [
      ...fromTables((await import("./facts/geography.ts")).tables),
      ...(await draftCountries()),
    ];
  },
  politics: async () => fromTables((await import("./facts/politics.ts")).tables),
  art: async () => fromTables((await import("./facts/art.ts")).tables),
  literature: async () => fromTables((await import("./facts/literature.ts")).tables),
  mythology: async () => fromTables((await import("./facts/mythology.ts")).tables),
  religion: async () => fromTables((await import("./facts/religion.ts")).tables),
  philosophy: async () => fromTables((await import("./facts/philosophy.ts")).tables),
  music: async () => fromTables((await import("./facts/music.ts")).tables),
  film: async () => fromTables((await import("./facts/film.ts")).tables),
  television: async () => fromTables((await import("./facts/television.ts")).tables),
  video_games: async () => fromTables((await import("./facts/video-games.ts")).tables),
  sports: async () => fromTables((await import("./facts/sports.ts")).tables),
  food_and_drink: async () => fromTables((await import("./facts/food-and-drink.ts")).tables),
  pop_culture: async () => fromTables((await import("./facts/pop-culture.ts")).tables),
};

/** Every question of one category by difficulty; the same seed gives the same questions. */
export async function loadShelf(category: Category, seed: string): Promise<Shelf> {
  return gradeDrafts(await sources[category](), `${seed}:${category}`);
}
