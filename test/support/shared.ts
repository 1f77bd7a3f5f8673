import { after } from "node:test";

const ends: (() => Promise<unknown>)[] = [];

// Other programs than tests use this as well: a hook would make them one.
const isTest = process.execArgv.includes("--test") || "NODE_TEST_CONTEXT" in process.env;
if (isTest) after(endShared);

/** After the last test of the process. */
export async function endShared(): Promise<void> {
  for (const end of ends) await end();
}

/** Once, after all tests of the process; also after those that failed before they could tidy up. */
export function atEnd(work: () => Promise<unknown>): void {
  ends.push(work);
}

/** What several files of one process use: made for the first that asks, ended by `endShared`. */
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
