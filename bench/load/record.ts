import type { Report } from "../report/schema.ts";

/** What one process measured of the operations that were due in one second. */
export type Second = Report["seconds"][number];
/** What one process measured of one operation in one second. */
export type OperationSecond = Second["operations"][string];
/** One way to fail, with a few requests to look up. */
export type ErrorGroup = Report["errors"][number];
export type ErrorSample = ErrorGroup["samples"][number];
/** A broken promise of the service, such as a lost answer. Any violation ends the run with exit code 3. */
export type Violation = Report["violations"][number];
/** Requests of the bots on the wire; the published client repeats those that fail for a moment. */
export type RequestCounts = Required<Report["requests"]>;
/** What a generator says about itself. */
export type GeneratorHealth = Report["generators"][number];

/** A choice of a player that the service acknowledged. */
export interface Choice {
  playerId: number;
  index: number;
  selected: number;
  /** Null in co-op. */
  points: number | null;
  requestId: string | null;
}

/** A lobby that was played to its end. */
export interface Played {
  code: string;
  choices: Choice[];
}

/** What a generator sends while it runs. */
export type GeneratorNotice = { second: Second } | { played: Played };

/** What a process reports at the end, besides its seconds. */
export interface ProcessResult {
  health: GeneratorHealth;
  errors: ErrorGroup[];
  requests: RequestCounts;
  violations: Violation[];
  numViolations: number;
  /** Arrivals that were still under way when the run ended. */
  unfinished: number;
  /** Most bots of the scenario at once. */
  mostBots: number;
}
