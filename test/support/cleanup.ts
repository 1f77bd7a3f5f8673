type Stop = () => Promise<unknown>;

const open = new Set<Stop>();
let isOver = false;

/** Throws once the program has been asked to end, because nothing would stop what starts later. */
export function mayStart(): void {
  if (isOver) throw new Error("the program is ending");
}

/** Makes `stop` run once: when called, or when the program is asked to end. */
export function stopsAtEnd(stop: Stop): () => Promise<void> {
  open.add(stop);
  return async () => {
    if (open.delete(stop)) await stop();
  };
}

/** Starts something that is stopped at the end of the program, even if it was still starting. */
export async function starts<T extends { stop: Stop }>(
  start: () => Promise<T>,
): Promise<Omit<T, "stop"> & { stop: () => Promise<void> }> {
  mayStart();
  const starting = start();
  const stop = stopsAtEnd(async () => (await starting).stop());
  return { ...(await starting), stop };
}

/** Stops everything, newest first, so that an interrupted program leaves no server behind. */
export async function stopAll(): Promise<void> {
  isOver = true;
  const all = [...open].reverse();
  open.clear();
  await Promise.allSettled(all.map((stop) => stop()));
}
