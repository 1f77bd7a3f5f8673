import type { Plan } from "./rooms/compare.ts";
import type { Table } from "./report.ts";

export interface BenchOptions {
  /** Short runs with coarse numbers. */
  isQuick: boolean;
  rooms: RoomSizes;
  rolling: RollingSizes;
}

/** Sizes of `hub` and `lobby` that the command changes. */
export interface RoomSizes extends Partial<
  Pick<Plan, "rates" | "lobbies" | "streams" | "rounds" | "seconds">
> {
  /** HTTP workers of the service, one side per number. */
  workers?: number[];
  /** Services with several workers are also measured with clients that follow the owner of a lobby. */
  follow?: true;
  /** Servers of other projects. */
  peers: string[];
}

/** Sizes of `rolling`. */
export interface RollingSizes {
  /** Requests per second. */
  perSecond: number;
  /** Event streams on lobbies that wait. */
  streams: number;
  /** Games at a time, of four players each. */
  games: number;
  /** Length of the control run. */
  seconds: number;
}

/** An independent measurement, which starts everything it needs and cleans up after itself. */
export interface Scenario {
  about: string;
  run(options: BenchOptions): Promise<Table[]>;
}

export type Scenarios = Readonly<Record<string, Scenario>>;
