import { after } from "node:test";

const ends: (() => Promise<unknown>)[] = [];
after(async () => {
  for (const end of ends) await end();
});

/** What several files of one process use: made for the first that asks, ended after the last test. */
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
