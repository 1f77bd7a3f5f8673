/**
 * Block size of the hi/lo id allocator, equal to the step of the sequences. One `nextval` per id would waste 63 of
 * 64 ids: the 32-bit sequence would be exhausted after 33.5 million seats instead of 2.1 billion.
 */
export const idBlockSize = 64;

/**
 * Hi/lo id allocator: returns the ids of a reserved block one by one, at once while the block has any; `reserve`
 * returns the first id of a new block.
 */
export function createHiLoAllocator(
  reserve: () => Promise<number>,
): () => number | Promise<number> {
  let next = 0;
  let end = 0;
  let reserving: Promise<void> | null = null;

  async function refill(): Promise<void> {
    next = await reserve();
    end = next + idBlockSize;
  }

  async function takeReserved(): Promise<number> {
    while (next >= end) {
      reserving ??= refill().finally(() => {
        reserving = null;
      });
      await reserving;
    }
    return next++;
  }

  return () => (next < end ? next++ : takeReserved());
}
