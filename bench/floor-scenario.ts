import type { Table } from "./report.ts";

export interface BenchOptions {
  /** Short runs with coarse numbers. */
  isQuick: boolean;
  everyday: EverydaySizes;
  rolling: RollingSizes;
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

/** Sizes of `lobby everyday`. */
export interface EverydaySizes {
  /** Commands per second over all lobbies. */
  rates: number[];
  lobbies: number;
  /** Streams per lobby. */
  streams: number;
  rounds: number;
  /** Length of a round. */
  seconds: number;
  /** HTTP workers of the service, one side per number. */
  workers: number[];
  /** Services with several workers are also measured with clients that follow the owner of a lobby. */
  follow: boolean;
  /** Another checkout whose service is measured as a separate side; null: none. */
  beside: string | null;
  /** Packages that are installed into a cache folder and measured as peers. */
  peers: string[];
}

/** An independent measurement, which starts everything it needs and cleans up after itself. */
export interface Scenario {
  about: string;
  run(options: BenchOptions): Promise<Table[]>;
}

export type Scenarios = Readonly<Record<string, Scenario>>;
