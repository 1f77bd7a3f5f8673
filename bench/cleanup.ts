type Stop = () => Promise<unknown>;

const open = new Set<Stop>();

/** Makes `stop` run once: when it is called, or when the benchmark is told to end. */
export function stopsAtEnd(stop: Stop): () => Promise<void> {
  open.add(stop);
  return async () => {
    if (open.delete(stop)) await stop();
  };
}

/** A benchmark that is interrupted leaves no server and no folder behind either. */
export function stopOnSignals(): void {
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => {
      const all = [...open].reverse();
      open.clear();
      void Promise.allSettled(all.map((stop) => stop())).then(() => process.exit(130));
    });
}
