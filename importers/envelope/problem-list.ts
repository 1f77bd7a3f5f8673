import { ImportRefused, type ImportProblem } from "./contract.ts";

/** Problems listed by one refusal; the rest is counted. */
export const maxProblems = 200;

/** Everything found wrong with an envelope, in the order it was found. */
export class ProblemList {
  private readonly found: ImportProblem[] = [];
  private total = 0;

  add(entity: string, place: string, problem: string): void {
    this.total++;
    if (this.found.length < maxProblems) this.found.push({ entity, place, problem });
  }

  get count(): number {
    return this.total;
  }

  /** Throws ImportRefused when anything was found. */
  refuseIfAny(): void {
    if (this.total > 0) throw new ImportRefused(this.found, this.total);
  }
}
