import { inOwnFolder } from "../../test/support/own-folder.ts";
import { within } from "./deadline.ts";

const endMs = 60_000;

/**
 * Runs `work` with its temporary files in a folder of its own, and resolves to the exit code. A signal aborts the work,
 * which may write the report of what it has.
 */
export async function interruptible(
  work: (interrupted: AbortSignal) => Promise<number>,
): Promise<number> {
  const interruption = new AbortController();
  let running: Promise<number> = Promise.resolve(0);
  return inOwnFolder(
    () => (running = work(interruption.signal)),
    async () => {
      interruption.abort();
      const ended = within(endMs, "the report of the interrupted run", running);
      await ended.catch((error: unknown) => process.stderr.write(`${String(error)}\n`));
    },
  );
}
