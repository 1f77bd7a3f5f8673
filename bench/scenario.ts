import type { Table } from "./report.ts";

export interface BenchOptions {
  /** Short runs, for a look; the numbers are coarse. */
  isQuick: boolean;
  everyday: EverydaySizes;
  rounds: RoundSizes;
}

/** Sizes of `service idle` and `database beside`. */
export interface RoundSizes {
  rounds: number;
  /** Length of a round. */
  seconds: number;
  /** Another checkout, whose service is measured as well; null: none. */
  beside: string | null;
}

/** Sizes of `lobby everyday`. */
export interface EverydaySizes {
  /** Commands per second over all lobbies. */
  rates: number[];
  lobbies: number;
  /** Streams of each lobby. */
  streams: number;
  rounds: number;
  /** Length of a round. */
  seconds: number;
  /** HTTP workers of the service, one side for each number. */
  workers: number[];
  /** Another checkout, whose service is measured as a side of its own; null: none. */
  beside: string | null;
  /** Packages that are installed into a cache folder and measured beside the service. */
  peers: string[];
}

/** Something that is measured by itself; it starts all it needs and leaves nothing behind. */
export interface Scenario {
  about: string;
  run(options: BenchOptions): Promise<Table[]>;
}

export type Scenarios = Readonly<Record<string, Scenario>>;
