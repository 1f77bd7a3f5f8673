const stopSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
/** The terminal and npm both deliver one Ctrl-C: what comes this soon is the same wish. */
const sameWishMs = 500;

/** Calls `first` once, and `again` for every later signal of somebody in a hurry. */
export function onStopSignals(handlers: { first: () => void; again: () => void }): {
  first: Promise<void>;
} {
  let firstAt: number | null = null;
  const first = new Promise<void>((resolve) => {
    const receive = () => {
      const now = performance.now();
      if (firstAt === null) {
        firstAt = now;
        handlers.first();
        resolve();
      } else if (now - firstAt > sameWishMs) handlers.again();
    };
    for (const signal of stopSignals) process.on(signal, receive);
  });
  return { first };
}
