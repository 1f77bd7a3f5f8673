import { Compile } from "typebox/compile";
import { EnvelopeHeader } from "./contract.ts";
import { findValueProblems, type ValueProblem } from "./json-problems.ts";
import { maxProblems } from "./problems.ts";
import { shapeProblems } from "./shape-problems.ts";

const shape = Compile(EnvelopeHeader);

/** Everything wrong with the members of an envelope before its lists (IMP-01). */
export function findHeaderProblems(header: unknown): ValueProblem[] {
  const found: ValueProblem[] = [];
  findValueProblems(header, "", found, maxProblems);
  if (shape.Check(header)) return [...found, ...dateProblems(header)];
  return [...found, ...shapeProblems(shape.Errors(header), maxProblems)];
}

/** RFC 3339 allows moments that neither JavaScript nor Postgres knows, such as leap seconds. */
function dateProblems({ patch: { released_at: date } }: EnvelopeHeader): ValueProblem[] {
  if (date === null || !Number.isNaN(Date.parse(date))) return [];
  return [{ place: "patch.released_at", problem: `${date} is no moment that can be stored` }];
}
