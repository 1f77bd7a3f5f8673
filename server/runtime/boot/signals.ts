const stopSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
/** The terminal and npm both deliver one Ctrl-C: what comes this soon is the same wish. */
const sameWishMs = 500;

/** Calls `first` once, and `again` for every later signal of somebody in a hurry, until `forget`. */
export function onStopSignals(handlers: { first: () => void; again: () => void }): {
  first: Promise<void>;
  forget: () => void;
} {
  let firstAt: number | null = null;
  const { promise: first, resolve } = Promise.withResolvers<void>();
  const receive = () => {
    const now = performance.now();
    if (firstAt === null) {
      firstAt = now;
      handlers.first();
      resolve();
    } else if (now - firstAt > sameWishMs) handlers.again();
  };
  for (const signal of stopSignals) process.on(signal, receive);
  const forget = () => {
    for (const signal of stopSignals) process.off(signal, receive);
  };
  return { first, forget };
}

/** The work, or its end by the signal, whichever is first. */
export function raceAbort<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    work.then(resolve, reject);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
