import { flushCompileCache } from "node:module";
import { sourceStack } from "../../platform/log/source-stack.ts";
import { prepareChild } from "../ipc.ts";

/** Loads and starts what a process of the service is for; a failure is told to the primary before it ends. */
export async function runChild(start: () => Promise<void>): Promise<void> {
  prepareChild();
  // Node prints the stack of what nobody caught after this.
  process.on("uncaughtExceptionMonitor", (error: unknown) => {
    if (error instanceof Error) error.stack = stackOf(error);
  });
  try {
    await start();
    // By itself Node keeps it at an orderly end only, and the process that takes the place of this one is in a hurry.
    flushCompileCache();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    process.stderr.write(`${error instanceof Error ? stackOf(error) : reason}\n`);
    process.send?.({ type: "failed", reason }, undefined, {}, () => process.exit(1));
  }
}

const stackOf = (error: Error) => sourceStack(error.stack ?? String(error));
