import { categories, normalizeText, type Category } from "../question-model.ts";
import words from "./words.json" with { type: "json" };

/** Beginnings of words that name a subject: "physic" stands for physics, physicist, physical. */
const stems: Record<Category, string> = {
  general_knowledge: "trivia general everyday miscellan anything",
  science:
    "scien physic chemi astronom biolog medic element atom molecul planet space galax genetic evolution laborator particle quantum gravity energy periodic disease vaccin virus bacteri anatom",
  nature:
    "natur animal wildlife plant tree flower bird fish mammal reptile insect ocean forest weather dinosaur ecolog species zoo garden mushroom dogs cats whale shark",
  mathematics:
    "math algebra geometr calculus arithmetic number equation probabilit statistic theorem fraction trigonometr integral derivativ matri logic",
  technology:
    "technolog computer software hardware internet program code coding invent engineer robot smartphone electronic gadget artificial javascript python linux database website startup",
  history:
    "histor war wars empire ancient medieval revolution king queen emperor battle dynasty roman rome viking napoleon hitler coloni century renaissance pharaoh crusade",
  geography:
    "geograph countr capital city cities river mountain continent island map maps flag border lake desert europe africa asia america australia",
  politics:
    "politic president government election parliament congress senate minister democra law laws constitution treaty diploma vote voting referendum geopolitic",
  art: "art arts artist paint sculpt museum galler draw drawing architect impressionis fresco portrait canvas",
  literature:
    "literatur book novel author writer poet poem poetry shakespeare fiction story stories playwright drama tolkien dickens",
  mythology:
    "myth legend god gods goddess olymp norse zeus odin thor loki titan folklore hercules heracles",
  religion:
    "religio bible christian islam muslim jewish judais buddh hindu church pope saint faith theolog quran koran torah prayer temple",
  philosophy:
    "philosoph ethic moral metaphysic socrates plato aristotle kant nietzsche existential stoic epistemolog",
  music:
    "music song band bands singer album composer opera guitar piano orchestra jazz rock hiphop rapper concert melody symphon lyric",
  film: "film movie cinema actor actress director hollywood oscar blockbuster animation pixar",
  television: "televis series sitcom episode netflix show shows tv soap reality cartoon anime",
  video_games:
    "videogame game gaming gamer nintendo playstation xbox console mario zelda pokemon minecraft arcade esport sega",
  sports:
    "sport football soccer basketball baseball tennis cricket olympic athlet golf rugby hockey champion cup racing formula team league swim cycling boxing marathon",
  food_and_drink:
    "food drink cook cuisine recipe dish dishes wine beer coffee tea cheese fruit vegetable bread dessert chocolate restaurant chef baking spice pasta cocktail meal",
  pop_culture: "celebrit fashion meme influencer viral comic superhero marvel gossip trend popular",
};

/** Short words and these are found as a whole only: "art" is not in "article". */
const shortestStem = 5;
const stemWeight = 3;
const mostSubjects = 5;
const mostWords = 64;

/** Word of the bank -> the category it stands for, made by precompute-words.ts. */
const known = new Map(
  Object.entries(words).flatMap(([category, list]) =>
    list.split(" ").map((word) => [word, category] as const),
  ),
);
const index = categories.map((category) => ({ category, stems: stems[category].split(" ") }));

/** One to five categories a text sounds like, best first; none when no word of it is known (TRV-08). */
export function subjectsOf(text: string): Category[] {
  const given = new Set(normalizeText(text).split(" ").slice(0, mostWords));
  const found = index.map(({ category, stems: own }) => {
    const scores = [...given].map((word) => scoreOf(word, category, own));
    return { category, score: scores.reduce((sum, score) => sum + score, 0) };
  });
  return found
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, mostSubjects)
    .map(({ category }) => category);
}

function scoreOf(word: string, category: Category, own: readonly string[]): number {
  const isNamed = own.some((stem) =>
    stem.length < shortestStem ? word === stem || word === `${stem}s` : word.startsWith(stem),
  );
  if (isNamed || normalizeText(category) === word) return stemWeight;
  return known.get(word) === category ? 1 : 0;
}
