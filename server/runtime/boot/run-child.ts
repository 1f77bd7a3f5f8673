import { flushCompileCache } from "node:module";
import { collectOnceIdle } from "./idle-collection.ts";
import { sourceStack } from "../../platform/log/source-stack.ts";
import { prepareChild, type StartOrder } from "../ipc.ts";
import { StartError } from "./start-error.ts";

/**
 * Loads the code of a process's role and starts it on the primary's order, so that all load while one
 * prepares the database. A failure is reported to the primary before the process ends.
 */
export async function runChild(
  load: () => Promise<(order: StartOrder) => Promise<void>>,
): Promise<void> {
  const ordered = prepareChild();
  // After this handler Node prints the stack of an uncaught error.
  process.on("uncaughtExceptionMonitor", (error: unknown) => {
    if (error instanceof Error) error.stack = stackOf(error);
  });
  try {
    const start = await load();
    await start(await ordered);
    // Node itself writes the cache only at an orderly end, and the replacement of this process needs it at
    // once.
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
