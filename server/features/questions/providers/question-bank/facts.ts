import { readFile } from "node:fs/promises";
import Type, { type Static } from "typebox";
import Value from "typebox/value";
import { asset } from "../../../../platform/assets.ts";

const Text = Type.String({ minLength: 1 });
const strict = { additionalProperties: false };
/** One row each, cells as text, the most familiar row first. */
const Rows = Type.Array(Type.Array(Type.String()), { minItems: 4 });

/** One way of asking about every row of a table. */
const AskSchema = Type.Object(
  {
    kind: Type.Union([Type.Literal("choose"), Type.Literal("year"), Type.Literal("order")]),
    question: Text,
    column: Text,
    hard: Type.Number({ description: "added to the familiarity of the row" }),
    near: Type.Optional(
      Type.String({ description: "rows with the same value here make the closest wrong choices" }),
    ),
    within: Type.Optional(
      Type.Integer({
        description: "as do rows at most this many rows away, which are of one kind",
      }),
    ),
    by: Type.Optional(Type.String({ description: "for `order`: the column that is compared" })),
    direction: Type.Optional(Type.Union([Type.Literal("before"), Type.Literal("after")])),
    explain: Type.Optional(Type.String({ description: "instead of that of the table" })),
  },
  strict,
);

const AskedTableSchema = Type.Object(
  { columns: Type.Array(Text), ask: Type.Array(AskSchema), explain: Text, rows: Rows },
  strict,
);

/** Rows of a term, what is true of it alone, and one more fact; asked in both directions. */
const TermTableSchema = Type.Object(
  {
    terms: Type.Object(
      { which: Text, about: Text, explain: Text, hard: Type.Optional(Type.Number()) },
      strict,
    ),
    rows: Rows,
  },
  strict,
);

/** A file of `facts/`: tables whose questions are filled in row by row, `{column}` by `{column}`. */
export const FactsSchema = Type.Array(Type.Union([TermTableSchema, AskedTableSchema]), {
  minItems: 1,
});

export type Ask = Static<typeof AskSchema>;
export type AskedTable = Static<typeof AskedTableSchema>;
export type TermTable = Static<typeof TermTableSchema>;
export type FactTable = AskedTable | TermTable;

export const factsFile = (name: string): string =>
  asset(`server/features/questions/providers/question-bank/facts/${name}.json`);

/** The tables of one file; throws when it does not have that form. */
export async function readFacts(name: string): Promise<FactTable[]> {
  const facts: unknown = JSON.parse(await readFile(factsFile(name), "utf8"));
  return Value.Parse(FactsSchema, facts);
}
