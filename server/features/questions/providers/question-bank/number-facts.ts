import { rowsOfTable, type Draft } from "./draft.ts";
import type { FactTable } from "./facts.ts";
import { createRandom, shuffle } from "./random.ts";

/** Turns `question | number | detail` rows into drafts with near, rounder or doubled numbers as wrong choices. */
export function draftNumbers(table: FactTable): Draft[] {
  if ("terms" in table) throw new Error("Numbers are no terms");
  const rows = rowsOfTable(table);
  return rows.map((row, index) => {
    const question = row.question ?? "";
    const right = Number((row.right ?? "").replaceAll(",", ""));
    const wrong = shuffle(createRandom(question), nearNumbers(right)).slice(0, 6);
    return {
      question,
      answer: right.toLocaleString("en-US"),
      wrong: wrong.map((value) => value.toLocaleString("en-US")),
      explanation: `The answer is ${right.toLocaleString("en-US")}. ${row.detail ?? ""}`,
      hardness: (50 * index) / rows.length,
    };
  });
}

function nearNumbers(right: number): number[] {
  const step = right <= 16 ? 1 : right <= 80 ? 2 : 10 ** Math.floor(Math.log10(right) - 1);
  const around = [-3, -2, -1, 1, 2, 3, 4].map((n) => right + n * step);
  return around.filter((value) => value > 0 && value !== right);
}
