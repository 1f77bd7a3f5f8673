import { after } from "node:test";

/** What several files of one process use: made for the first that asks, ended after the last test. */
export function shared<T>(
  make: () => Promise<T>,
  end: (made: T) => Promise<unknown>,
): () => Promise<T> {
  let making: Promise<T> | null = null;
  after(async () => {
    if (making) await end(await making);
  });
  return () => (making ??= make());
}
