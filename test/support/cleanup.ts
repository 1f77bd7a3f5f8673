type Stop = () => Promise<unknown>;

const open = new Set<Stop>();
let isOver = false;

/** Throws once the program was told to end: what starts after that nobody would stop. */
export function mayStart(): void {
  if (isOver) throw new Error("the program was told to end");
}

/** Makes `stop` run once: when it is called, or when the program is told to end. */
export function stopsAtEnd(stop: Stop): () => Promise<void> {
  open.add(stop);
  return async () => {
    if (open.delete(stop)) await stop();
  };
}

/** Starts something that the end of the program stops, also when it was only about to be there. */
export async function starts<T extends { stop: Stop }>(
  start: () => Promise<T>,
): Promise<Omit<T, "stop"> & { stop: () => Promise<void> }> {
  mayStart();
  const starting = start();
  const stop = stopsAtEnd(async () => (await starting).stop());
  return { ...(await starting), stop };
}

/** Ends what runs, newest first: a program that is interrupted leaves no server behind either. */
export async function stopAll(): Promise<void> {
  isOver = true;
  const all = [...open].reverse();
  open.clear();
  await Promise.allSettled(all.map((stop) => stop()));
}
