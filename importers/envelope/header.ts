import { Compile } from "typebox/compile";
import { EnvelopeHeader, ImportRefused, type ImportEnvelope } from "./contract.ts";
import { findValueProblems, type ValueProblem } from "./json-problems.ts";
import { maxProblems } from "./problem-list.ts";
import { shapeProblems } from "./shape-problems.ts";

const shape = Compile(EnvelopeHeader);

/** All problems of the members of an envelope before its lists (IMP-01). */
export function findHeaderProblems(header: unknown): ValueProblem[] {
  const found: ValueProblem[] = [];
  findValueProblems(header, "", found, maxProblems);
  if (shape.Check(header)) return [...found, ...dateProblems(header)];
  return [...found, ...shapeProblems(shape.Errors(header), maxProblems)];
}

/** Throws ImportRefused for an incomplete envelope or an invalid header. */
export function requireHeader({
  name,
  header,
  problems = [],
}: Pick<ImportEnvelope, "name" | "header" | "problems">): void {
  const found = findHeaderProblems(header).map((problem) => ({ entity: name, ...problem }));
  if (problems.length + found.length > 0) throw new ImportRefused([...problems, ...found]);
}

/** RFC 3339 allows times that neither JavaScript nor Postgres can store, such as leap seconds. */
function dateProblems({ patch: { released_at: date } }: EnvelopeHeader): ValueProblem[] {
  if (date === null || !Number.isNaN(Date.parse(date))) return [];
  return [{ place: "patch.released_at", problem: `${date} is no moment that can be stored` }];
}
