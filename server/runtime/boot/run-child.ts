import { flushCompileCache } from "node:module";
import { prepareChild } from "../ipc.ts";

/** Loads and starts what a process of the service is for; a failure is told to the primary before it ends. */
export async function runChild(start: () => Promise<void>): Promise<void> {
  prepareChild();
  try {
    await start();
    // By itself Node keeps it at an orderly end only, and the process that takes the place of this one is in a hurry.
    flushCompileCache();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    process.stderr.write(`${error instanceof Error ? (error.stack ?? reason) : reason}\n`);
    process.send?.({ type: "failed", reason }, undefined, {}, () => process.exit(1));
  }
}
