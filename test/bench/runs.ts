import type { Beside, Happened } from "../../bench/load/beside.ts";
import { runScenario, type RunOptions } from "../../bench/load/run.ts";
import type { Load } from "../../bench/load/shapes.ts";
import type { Report } from "../../bench/report/schema.ts";
import { testDatabase } from "../support/stores.ts";
import { loadScenario } from "../../bench/scenarios.ts";
import { ownInstance } from "../../bench/target.ts";

export interface TestRun {
  load: Load;
  /** Settings of the own instance. */
  settings?: Record<string, string>;
  url?: string;
  budgets?: string[];
  beside?: (context: Beside) => Promise<Happened | void>;
  /** Has its own Postgres too, which a fault may restart. */
  hasOwnPostgres?: boolean;
}

const nothing: Happened = { faults: [], problems: [] };

/**
 * A run of a scenario as the command makes it, without its own budgets. An own instance has its database in memory, so
 * that the disk limits nothing.
 */
export async function runBench(nameOrPath: string, given: TestRun): Promise<Report> {
  const { name, file, scenario } = await loadScenario(nameOrPath);
  const { load, settings = {}, url = null, budgets = [], beside, hasOwnPostgres } = given;
  const database = url === null && !hasOwnPostgres ? await testDatabase({ isStarted: true }) : null;
  const options: RunOptions = {
    ...{ name, file, scenario, load, budgets },
    ...{ seed: 1, processes: 1, maxInFlight: 1_000, command: "test" },
    interrupted: new AbortController().signal,
    target: {
      ...ownInstance({ ...settings, ...(database ? { DATABASE_URL: database.url } : {}) }),
      url,
    },
    ...(beside ? { beside: async (context) => (await beside(context)) ?? nothing } : {}),
  };
  try {
    return await runScenario(options);
  } finally {
    await database?.drop();
  }
}
