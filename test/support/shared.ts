import { after } from "node:test";

const ends: (() => Promise<unknown>)[] = [];

// Programs other than tests import this too, and a hook would turn them into tests.
export const isTest = process.execArgv.includes("--test") || "NODE_TEST_CONTEXT" in process.env;
if (isTest) after(endShared);

/** After the last test of the process; newest first, because a service needs its stores to end. */
export async function endShared(): Promise<void> {
  for (const end of ends.reverse()) await end();
}

/** Once after all tests of the process, including those that failed before their own clean-up. */
export function atEnd(work: () => Promise<unknown>): void {
  ends.push(work);
}

/** A resource shared by the files of a process: created on first use, released by `endShared`. */
export function shared<T>(
  make: () => Promise<T>,
  end: (made: T) => Promise<unknown>,
): () => Promise<T> {
  let making: Promise<T> | null = null;
  ends.push(async () => {
    if (making) await end(await making);
  });
  return () => (making ??= make());
}
