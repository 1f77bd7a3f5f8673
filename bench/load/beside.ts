import type { Fault, Operation } from "../report/schema.ts";
import type { Target } from "../target.ts";

/** What happened beside the load of a run. */
export interface Happened {
  faults: Fault[];
  /** What the run fails for. */
  problems: string[];
  /** What peers took for the same. */
  peers?: Operation[];
}

export interface Beside {
  target: Target;
  /** Of the load, by `performance.now()`. */
  startedAt: number;
  seconds: number;
  generatorPids: readonly number[];
  /** Codes of the lobbies that bots follow now. */
  lobbies(): Promise<string[]>;
  /** Cuts all streams of the bots; resolves to the milliseconds until each was open again. */
  cutStreams(): Promise<number[]>;
  /** Ends the load; what is under way may come to its end. */
  finish(): void;
  /** Aborted when the load is over. */
  signal: AbortSignal;
}
