import { ConfigError } from "../../platform/config/config.ts";
import { runPrimary } from "./primary.ts";

/** Runs the whole service until a signal; returns the exit code. */
export async function runService(): Promise<number> {
  try {
    return await runPrimary();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 1;
  }
}
