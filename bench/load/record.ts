import type { GeneratorHealth } from "./health.ts";

/** What one process measured of one operation in one second. */
export interface OperationSecond {
  /** Operations that succeeded. */
  count: number;
  /** Operations that failed, without those that met a limit. */
  failed: number;
  /** Operations that ended with 429. */
  limited: number;
  /** Encoded `Times` of the successful ones, from the intended start; null: none. */
  response: string | null;
  /**
   * The same from the send. Only of operations that a generator in good order sent in time and received: a generator
   * that stands still never makes it longer. A figure of a scenario has none.
   */
  service: string | null;
}

/** What one process measured of the operations that were due in one second. */
export interface Second {
  /** Seconds since the start of the run. */
  at: number;
  /** Arrivals that were sent, those of them that were late, and those dropped at the limit of concurrent ones. */
  sent: number;
  late: number;
  dropped: number;
  /** Encoded `Times` by which arrivals were sent late; null: none was sent. */
  lateness: string | null;
  operations: Record<string, OperationSecond>;
}

/** One way to fail, with a few requests to look up. */
export interface ErrorGroup {
  operation: string;
  /** A code of the service ("lobby:not_found"), of the client ("network:timeout") or of the bench ("bench:deadline"). */
  code: string;
  /** HTTP status; 0 without one. */
  status: number;
  count: number;
  samples: ErrorSample[];
}

export interface ErrorSample {
  /** Seconds since the start of the run. */
  at: number;
  bot: string;
  /** `X-Request-Id` that the bot sent; null: no request failed. */
  requestId: string | null;
  request: string | null;
  message: string;
}

/** A broken promise of the service, such as a lost answer. Any violation ends the run with exit code 3. */
export interface Violation {
  /** "lost answer", "gap", "wrong proof" */
  kind: string;
  text: string;
  bot: string;
  requestId: string | null;
}

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

/** Requests of the bots on the wire; the published client repeats those that fail for a moment. */
export interface RequestCounts {
  sent: number;
  /** Those of them to another port than that of the target: that of a worker that owns a lobby. */
  direct: number;
  /** Attempts that the client repeats, by "status code" or system error. */
  repeated: Record<string, number>;
  connections: number;
  /** Connections that the other side ended, idle ones too; the bots opened new ones. */
  lostConnections: number;
  /** Answers with 429, by request and the setting that sets the limit. */
  limited: Record<string, number>;
  /** Guests that came into being; no endpoint removes them. */
  guests: number;
}

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
