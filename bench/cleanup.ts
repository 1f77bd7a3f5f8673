type Stop = () => Promise<unknown>;

const open = new Set<Stop>();

/** Makes `stop` run once: when it is called, or when the benchmark is told to end. */
export function stopsAtEnd(stop: Stop): () => Promise<void> {
  open.add(stop);
  return async () => {
    if (open.delete(stop)) await stop();
  };
}

/** Ends what runs, newest first: a benchmark that is interrupted leaves no server behind either. */
export async function stopAll(): Promise<void> {
  const all = [...open].reverse();
  open.clear();
  await Promise.allSettled(all.map((stop) => stop()));
}
