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

/** One way of asking about every row of a table. */
export interface Ask {
  kind: "choose" | "year" | "order";
  question: string;
  column: string;
  /** Added to the familiarity of the row. */
  hard: number;
  /** Rows with the same value in this column make the closest wrong choices. */
  near?: string;
  /** Rows at most this many lines away make the closest wrong choices: neighbours are of one kind. */
  within?: number;
  /** For `order`: the column whose numbers are compared. */
  by?: string;
  direction?: "before" | "after";
  /** Explanation of this way of asking, instead of the table's. */
  explain?: string;
}

export interface Table {
  /** Names of the columns, separated by blanks. */
  columns: string;
  /** One row a line, cells separated by "|", the most familiar first. */
  rows: string;
  ask: readonly Ask[];
  explain: string;
}

type Options = Partial<Pick<Ask, "hard" | "near" | "within" | "explain">>;

/** Asks for the value of a column; other rows give the wrong choices. */
export function choose(question: string, column: string, options: Options = {}): Ask {
  return { kind: "choose", question, column, hard: 0, ...options };
}

/** Asks for a year; the wrong choices are years around it. Years before Christ are negative. */
export function year(question: string, options: Options = {}): Ask {
  return { kind: "year", question, column: "year", hard: 18, ...options };
}

/** Asks which row came before and which came after a given one, by its `year`. */
export function order(before: string, after: string, column: string, options: Options = {}): Ask[] {
  const base = { kind: "order" as const, column, by: "year", hard: 10, ...options };
  return [
    { ...base, question: before, direction: "before" },
    { ...base, question: after, direction: "after" },
  ];
}

/** How a table of terms is worded; `{term}`, `{clue}` and `{detail}` are filled in. */
interface Wording {
  /** Asks for the term: "Which instrument {clue}?". */
  which: string;
  /** Asks for the clue: "Which of these is true of the {term}?". */
  about: string;
  explain: string;
  hard?: number;
}

/** A table of `term | what is true of it alone | one more fact`, asked in both directions. */
export function terms(wording: Wording, rows: string): Table {
  const { which, about, explain, hard = 0 } = wording;
  const lines = rows.split("\n").filter((line) => line.trim() !== "");
  return {
    columns: "term clue detail statement verb",
    rows: lines.map(withStatement).join("\n"),
    ask: [
      choose(which, "term", { hard, within: neighbours }),
      choose(about, "statement", { hard: hard + 6, near: "verb", within: neighbours }),
    ],
    explain,
  };
}

const neighbours = 7;

/** Adds the clue as a sentence of its own, and its verb: "are" among three "is" would stand out. */
function withStatement(line: string): string {
  const clue = line.split("|")[1]?.trim() ?? "";
  return `${line} | ${capital(clue)} | ${clue.split(" ")[0] ?? ""}`;
}

export function parseRows(table: Pick<Table, "columns" | "rows">): Row[] {
  const names = table.columns.split(" ");
  const lines = table.rows.split("\n").filter((line) => line.trim() !== "");
  return lines.map((line) => {
    const cells = line.split("|").map((cell) => cell.trim());
    if (cells.length !== names.length) throw new Error(`Row does not fit its columns: ${line}`);
    return Object.fromEntries(names.map((name, index) => [name, cells[index] ?? ""]));
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
export function draftTable(table: Table): Draft[] {
  const rows = parseRows(table);
  return table.ask.flatMap((ask) => {
    if (ask.kind === "choose") return chooseDrafts(table, rows, ask);
    return ask.kind === "year" ? yearDrafts(table, rows, ask) : orderDrafts(table, rows, ask);
  });
}

const familiarity = (index: number, rows: readonly Row[]) => (50 * index) / rows.length;

function chooseDrafts(table: Table, rows: readonly Row[], ask: Ask): Draft[] {
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

/** Rows that are alike in the ways the question asks for; the narrowest way that leaves enough wins. */
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

/** No fact of the bank is younger, so a later year would give itself away. */
const lastYear = 2023;

function yearDrafts(table: Table, rows: readonly Row[], ask: Ask): Draft[] {
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

function orderDrafts(table: Table, rows: readonly Row[], ask: Ask): Draft[] {
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
