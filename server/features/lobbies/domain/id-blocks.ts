/**
 * Ids are reserved in blocks of the step of their sequences. One `nextval` per id would leave 63 of 64 unused: the
 * 32 bits of the sequence would end after 33.5 million seats instead of 2.1 billion.
 */
export const idBlockSize = 64;

/** Hands out the ids of a block one by one; `reserve` returns the first id of a fresh block. */
export function createIdBlocks(reserve: () => Promise<number>): () => Promise<number> {
  let next = 0;
  let end = 0;
  let reserving: Promise<void> | null = null;

  async function refill(): Promise<void> {
    next = await reserve();
    end = next + idBlockSize;
  }

  return async () => {
    while (next >= end) {
      reserving ??= refill().finally(() => {
        reserving = null;
      });
      await reserving;
    }
    return next++;
  };
}
