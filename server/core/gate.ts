import { AppError } from "./errors.ts";

/** Lets a few do heavy work at the same time; the others wait in a short line. */
export interface Gate {
  /** Rejects with `server:unavailable` when the line is full. */
  pass<T>(work: () => Promise<T>): Promise<T>;
}

export function createGate({ running, waiting }: { running: number; waiting: number }): Gate {
  const line: (() => void)[] = [];
  let active = 0;
  return {
    async pass(work) {
      if (active >= running) {
        if (line.length >= waiting) throw new AppError("server:unavailable");
        await new Promise<void>((resolve) => line.push(resolve));
      } else active++;
      try {
        return await work();
      } finally {
        const next = line.shift();
        if (next === undefined) active--;
        else next();
      }
    },
  };
}
