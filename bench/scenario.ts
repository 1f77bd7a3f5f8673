import type { Table } from "./report.ts";

export interface BenchOptions {
  /** Short runs, for a look; the numbers are coarse. */
  isQuick: boolean;
}

/** Something that is measured by itself; it starts all it needs and leaves nothing behind. */
export interface Scenario {
  about: string;
  run(options: BenchOptions): Promise<Table[]>;
}

export type Scenarios = Readonly<Record<string, Scenario>>;
