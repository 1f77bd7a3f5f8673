import { writeFileSync } from "node:fs";
import { normalizeText, type Category } from "../question-model.ts";
import { listBank } from "./index.ts";

/**
 * Writes words.json: words that stand for one category because the bank uses them there and nearly
 * nowhere else. Run by hand after the facts have changed:
 * `node server/features/questions/providers/question-bank/precompute-words.ts`
 */
const shortestWord = 4;
const fewestUses = 2;
const smallestShare = 0.8;

const uses = new Map<string, Map<Category, number>>();
for (const { category, question, choices, correctIndex } of await listBank()) {
  // Wrong choices may come from anywhere.
  const text = normalizeText(`${question} ${choices[correctIndex]}`);
  for (const word of new Set(text.split(" "))) {
    if (word.length < shortestWord || /\d/.test(word)) continue;
    const counts = uses.get(word) ?? new Map<Category, number>();
    counts.set(category, (counts.get(category) ?? 0) + 1);
    uses.set(word, counts);
  }
}
const chosen: Record<string, string[]> = {};
for (const [word, counts] of [...uses].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  for (const [category, count] of counts)
    if (count >= fewestUses && count / total >= smallestShare) (chosen[category] ??= []).push(word);
}
const lists = Object.entries(chosen).map(([category, words]) => [category, words.join(" ")]);
const file = new URL("./words.json", import.meta.url);
writeFileSync(file, `${JSON.stringify(Object.fromEntries(lists), null, 2)}\n`);
