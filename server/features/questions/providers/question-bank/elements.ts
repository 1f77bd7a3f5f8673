import type { Draft } from "./draft.ts";
import names from "./facts/elements.json" with { type: "json" };

interface Element {
  atomicNumber: number;
  symbol: string;
  name: string;
  standardState: string;
  groupBlock: string;
  yearDiscovered: string | number;
}

/** Symbol letters that are not those of the English name make a question harder or impossible to guess. */
const familiar = new Set(names.familiar);
const british: Readonly<Record<string, string>> = names.british;

function spell(name: string): string {
  return british[name] ?? name;
}

/** Questions from the periodic table: symbols and numbers in both directions, neighbours. */
export async function draftElements(): Promise<Draft[]> {
  const table = (await import("periodic-table")).default;
  const { elements: masses } = await import("chemical-elements");
  const massOf = new Map(masses.map((entry) => [entry.number, entry.mass]));
  const all = (table.all() as Element[]).filter((element) => element.atomicNumber <= 103);
  return all.flatMap((element, index) => {
    const near = all.filter((_, other) => other !== index && Math.abs(other - index) <= 12);
    return draftElement(element, near, massOf.get(element.atomicNumber) ?? null, all[index + 1]);
  });
}

function draftElement(
  element: Element,
  near: readonly Element[],
  mass: number | null,
  next: Element | undefined,
): Draft[] {
  const name = spell(element.name);
  const others = near.map((other) => spell(other.name));
  const base = familiar.has(element.name) ? 0 : 22 + element.atomicNumber / 4;
  const weight = mass === null ? "" : ` and a relative atomic mass of about ${Math.round(mass)}`;
  const explanation = `${name} has the symbol ${element.symbol}, the atomic number ${element.atomicNumber}${weight}.`;
  const drafts: Draft[] = [
    {
      question: `What is the chemical symbol of ${name.toLowerCase()}?`,
      answer: element.symbol,
      wrong: near.map((other) => other.symbol),
      explanation,
      hardness: base,
    },
    {
      question: `Which chemical element has the symbol ${element.symbol}?`,
      answer: name,
      wrong: others,
      explanation,
      hardness: base + 1,
    },
    {
      question: `Which chemical element has the atomic number ${element.atomicNumber}?`,
      answer: name,
      wrong: others,
      explanation,
      hardness: base + 14,
    },
  ];
  if (next === undefined) return drafts;
  const after = spell(next.name);
  drafts.push({
    question: `Which chemical element follows directly after ${name.toLowerCase()} in the periodic table?`,
    answer: after,
    wrong: others.filter((other) => other !== after),
    explanation: `${explanation} The next element, number ${next.atomicNumber}, is ${after.toLowerCase()} (${next.symbol}).`,
    hardness: base + 24,
  });
  return drafts;
}
