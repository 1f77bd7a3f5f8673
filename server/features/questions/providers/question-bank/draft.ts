import type { Ask, AskedTable, FactTable, TermTable } from "./facts.ts";
import { createRandom, shuffle } from "./random.ts";

/** A question before its wrong choices are picked and its difficulty is graded. */
export interface Draft {
  question: string;
  answer: string;
  /** Candidates of the same kind, all certainly wrong, at least three. */
  wrong: readonly string[];
  explanation: string;
  /** Larger is harder; only the order within a category counts. */
  hardness: number;
}

/** A row by column name. */
export type Row = Readonly<Record<string, string>>;

/** Search distance for the closest wrong choices in a table of terms. */
const neighbours = 7;

/** A table of terms as one that is asked in both directions. */
function withQuestions({ terms, rows }: TermTable): AskedTable {
  const { which, about, explain, hard = 0 } = terms;
  const own = { kind: "choose", within: neighbours } as const;
  return {
    columns: ["term", "clue", "detail", "statement", "verb"],
    rows: rows.map(withStatement),
    ask: [
      { ...own, question: which, column: "term", hard },
      { ...own, question: about, column: "statement", hard: hard + 6, near: "verb" },
    ],
    explain,
  };
}

/** Adds the clue as a separate sentence with a matching verb: "are" among three "is" would reveal it. */
function withStatement(row: readonly string[]): string[] {
  const clue = row[1] ?? "";
  return [...row, capital(clue), clue.split(" ")[0] ?? ""];
}

export function rowsOfTable({ columns, rows }: Pick<AskedTable, "columns" | "rows">): Row[] {
  return rows.map((cells) => {
    if (cells.length !== columns.length)
      throw new Error(`Row does not fit its columns: ${cells.join(", ")}`);
    return Object.fromEntries(columns.map((name, index) => [name, cells[index] ?? ""]));
  });
}

export function formatYear(text: string): string {
  const value = Number(text);
  return value < 0 ? `${-value} BC` : text;
}

/** Fills `{column}`; `{Column}` begins with a capital letter. Ends without a space when a cell is empty. */
export function fill(template: string, row: Row): string {
  const text = template.replace(/\{(\w+)\}/g, (brace, name: string) => {
    const cell = row[name] ?? row[name.toLowerCase()];
    if (cell === undefined) return brace;
    const shown = name === "year" ? formatYear(cell) : cell;
    return row[name] === undefined ? capital(shown) : shown;
  });
  return capital(text.trim());
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Every question a table gives. */
export function draftTable(facts: FactTable): Draft[] {
  const table = "terms" in facts ? withQuestions(facts) : facts;
  const rows = rowsOfTable(table);
  return table.ask.flatMap((ask) => {
    if (ask.kind === "choose") return chooseDrafts(table, rows, ask);
    return ask.kind === "year" ? yearDrafts(table, rows, ask) : orderDrafts(table, rows, ask);
  });
}

const familiarity = (index: number, rows: readonly Row[]) => (50 * index) / rows.length;

function chooseDrafts(table: AskedTable, rows: readonly Row[], ask: Ask): Draft[] {
  const texts = rows.map((row) => fill(ask.question, row));
  const rightOf = new Map<string, Set<string>>();
  rows.forEach((row, index) => {
    const text = texts[index] ?? "";
    const right = rightOf.get(text) ?? new Set<string>();
    rightOf.set(text, right.add(row[ask.column] ?? ""));
  });
  return rows.flatMap((row, index) => {
    const question = texts[index] ?? "";
    if (texts.indexOf(question) !== index) return [];
    const right = rightOf.get(question) ?? new Set();
    const others = rows.filter((other) => !right.has(other[ask.column] ?? ""));
    const close = closeRows(ask, rows, index).filter((other) => others.includes(other));
    const wrong = [
      ...new Set((close.length >= 3 ? close : others).map((o) => o[ask.column] ?? "")),
    ];
    const explanation = fill(ask.explain ?? table.explain, row);
    const answer = row[ask.column] ?? "";
    return [
      { question, answer, wrong, explanation, hardness: familiarity(index, rows) + ask.hard },
    ];
  });
}

/** Rows with equal values in the question's grouping columns; the narrowest grouping with enough rows is used. */
function closeRows(ask: Ask, rows: readonly Row[], index: number): Row[] {
  const { near, within } = ask;
  const row = rows[index];
  const isNear = (other: Row) => near !== undefined && other[near] === row?.[near];
  const around =
    within === undefined ? [] : rows.slice(Math.max(0, index - within), index + within + 1);
  const both = near === undefined ? [] : around.filter(isNear);
  if (both.length > 3) return both;
  const alike = rows.filter(isNear);
  return near !== undefined && alike.length > 3 ? alike : around;
}

/** No fact of the bank is later, so a later year is obviously wrong. */
const lastYear = 2023;

function yearDrafts(table: AskedTable, rows: readonly Row[], ask: Ask): Draft[] {
  return rows.map((row, index) => {
    const right = Number(row[ask.column]);
    const random = createRandom(`${ask.question}${right}${index}`);
    const reach = right < 1500 ? 60 : right < 1900 ? 15 : 4;
    const step = Math.max(1, Math.round(reach * (0.6 + 0.8 * random())));
    // The right year is the earliest, second, third or latest of the four with the same chance.
    const later = [1, 2, 3]
      .slice(0, Math.floor(random() * 4))
      .map((n) => right + n * step)
      .filter((value) => value <= lastYear);
    const earlier = [1, 2, 3].slice(later.length).map((_, n) => right - (n + 1) * step);
    const wrong = [...later, ...earlier].map((value) => (value === 0 ? 1 : value));
    return {
      question: fill(ask.question, row),
      answer: formatYear(String(right)),
      wrong: wrong.map((value) => formatYear(String(value))),
      explanation: fill(ask.explain ?? table.explain, row),
      hardness: familiarity(index, rows) + ask.hard,
    };
  });
}

function orderDrafts(table: AskedTable, rows: readonly Row[], ask: Ask): Draft[] {
  const by = ask.by ?? "year";
  return rows.flatMap((row, index) => {
    const pivot = Number(row[by]);
    // Two years of distance keep disputes about single years out.
    const gap = pivot < 1500 ? 30 : 2;
    const isRight = (value: number) =>
      ask.direction === "before" ? value <= pivot - gap : value >= pivot + gap;
    const isWrong = (value: number) =>
      ask.direction === "before" ? value >= pivot + gap : value <= pivot - gap;
    const right = rows.filter((other) => isRight(Number(other[by])));
    const wrong = rows.filter((other) => isWrong(Number(other[by])));
    const question = fill(ask.question, row);
    const chosen = shuffle(createRandom(question), right)[0];
    if (chosen === undefined || wrong.length < 3) return [];
    return [
      {
        question,
        answer: chosen[ask.column] ?? "",
        wrong: closest(wrong, pivot, by).map((other) => other[ask.column] ?? ""),
        explanation: `${fill(table.explain, row)} ${fill(table.explain, chosen)}`,
        hardness: familiarity(index, rows) + ask.hard,
      },
    ];
  });
}

function closest(rows: readonly Row[], pivot: number, by: string): Row[] {
  const distance = (row: Row) => Math.abs(Number(row[by]) - pivot);
  return [...rows].sort((a, b) => distance(a) - distance(b)).slice(0, 12);
}
