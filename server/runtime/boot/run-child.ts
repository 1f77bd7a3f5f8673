import { flushCompileCache } from "node:module";
import { collectOnceIdle } from "./idle-collection.ts";
import { sourceStack } from "../../platform/log/source-stack.ts";
import { prepareChild, type StartOrder } from "../ipc.ts";
import { StartError } from "./start-error.ts";

/**
 * Loads what a process of the service is for, and starts it when the primary says so: the code of all is loaded while
 * one prepares the database. A failure is told to the primary before the process ends.
 */
export async function runChild(
  load: () => Promise<(order: StartOrder) => Promise<void>>,
): Promise<void> {
  const ordered = prepareChild();
  // Node prints the stack of what nobody caught after this.
  process.on("uncaughtExceptionMonitor", (error: unknown) => {
    if (error instanceof Error) error.stack = stackOf(error);
  });
  try {
    const start = await load();
    await start(await ordered);
    // By itself Node keeps it at an orderly end only, and the process that takes the place of this one is in a hurry.
    flushCompileCache();
    collectOnceIdle();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const isFinal = error instanceof StartError;
    if (!isFinal) process.stderr.write(`${error instanceof Error ? stackOf(error) : reason}\n`);
    process.send?.({ type: "failed", reason, isFinal }, undefined, {}, () => process.exit(1));
  }
}

const stackOf = (error: Error) => sourceStack(error.stack ?? String(error));
