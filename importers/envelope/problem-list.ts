import { ImportRefused, type ImportProblem } from "./contract.ts";

/** Problems that one refusal lists; the rest is counted. */
export const maxProblems = 200;

/** The problems of an envelope, in the order of discovery. */
export class ProblemList {
  readonly #listed: ImportProblem[] = [];
  #total = 0;

  add(entity: string, place: string, problem: string): void {
    this.#total++;
    if (this.#listed.length < maxProblems) this.#listed.push({ entity, place, problem });
  }

  get count(): number {
    return this.#total;
  }

  /** Throws ImportRefused if there is a problem. */
  refuseIfAny(): void {
    if (this.#total > 0) throw new ImportRefused(this.#listed, this.#total);
  }

  /** Rethrows `error`; a refusal first joins the problems listed so far. */
  refuseWith(error: unknown): never {
    if (!(error instanceof ImportRefused)) throw error;
    for (const { entity, place, problem } of error.problems) this.add(entity, place, problem);
    this.refuseIfAny();
    throw error;
  }
}
