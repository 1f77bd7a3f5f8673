import { Compile } from "typebox/compile";
import { EnvelopeHeader } from "./contract.ts";
import type { ValueProblem } from "./json-problems.ts";

const shape = Compile(EnvelopeHeader);

/** Everything wrong with the members of an envelope before its lists (IMP-01). */
export function findHeaderProblems(header: unknown): ValueProblem[] {
  if (shape.Check(header)) return [];
  return shape.Errors(header).map(({ instancePath, message }) => ({
    place: instancePath.slice(1).replaceAll("/", "."),
    problem: message,
  }));
}
