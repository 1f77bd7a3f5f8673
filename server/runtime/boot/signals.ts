const stopSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
/** The terminal and npm both deliver one Ctrl-C: a second signal within this window is the same request. */
const repeatWindowMs = 500;

/** Calls `first` once, and `again` for every later signal, until `stop`. */
export function onStopSignals(handlers: { first: () => void; again: () => void }): {
  first: Promise<void>;
  stop: () => void;
} {
  let firstAt: number | null = null;
  const { promise: first, resolve } = Promise.withResolvers<void>();
  const receive = () => {
    const now = performance.now();
    if (firstAt === null) {
      firstAt = now;
      handlers.first();
      resolve();
    } else if (now - firstAt > repeatWindowMs) handlers.again();
  };
  for (const signal of stopSignals) process.on(signal, receive);
  const stop = () => {
    for (const signal of stopSignals) process.off(signal, receive);
  };
  return { first, stop };
}

/** Resolves with the work, or rejects as soon as the signal aborts. */
export function raceAbort<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    work.then(resolve, reject);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
