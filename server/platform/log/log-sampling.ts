import { LRUCache } from "lru-cache";
import type { LoggerOptions } from "pino";

/** Sampling window: up to `maxLinesPerWindow` lines of one message about one subject are written in it. */
const windowMs = 10_000;
export const maxLinesPerWindow = 10;
/** Messages tracked at a time; an evicted one starts a new window when it repeats. */
const maxTracked = 256;

const warn = 40;
const fatal = 60;

interface Window {
  since: number;
  lines: number;
  suppressed: number;
}

/**
 * Log sampling for repeated warnings and errors: while Redis or Postgres is down, or an invariant is broken, each
 * request and each retry logs the same message, and the disk would fill. The first line of the next window has
 * `suppressed`, the number of omitted lines. Audit lines are never suppressed.
 */
export function sampleRepeatedLines(
  now: () => number = () => performance.now(),
): NonNullable<LoggerOptions["hooks"]> {
  const windows = new LRUCache<string, Window>({ max: maxTracked });
  /** Null suppresses the line; a number writes it, with the count suppressed before it. */
  const sample = (message: string): number | null => {
    const last = windows.get(message);
    if (last !== undefined && now() - last.since < windowMs) {
      last.lines++;
      if (last.lines <= maxLinesPerWindow) return 0;
      last.suppressed++;
      return null;
    }
    windows.set(message, { since: now(), lines: 1, suppressed: 0 });
    return last?.suppressed ?? 0;
  };
  return {
    logMethod(args, method, level) {
      const [facts, text] = args as [unknown, unknown];
      if (level < warn || level >= fatal || !isRecord(facts) || facts["audit"] === true)
        return method.apply(this, args);
      const suppressed = sample(`${String(text)} ${subjectOf(facts)}`);
      if (suppressed === null) return;
      if (suppressed === 0) return method.apply(this, args);
      return method.apply(this, [{ ...facts, suppressed }, text as string]);
    },
  };
}

/** Messages are sampled per store, route and queue: a failing one must not suppress the lines of another. */
const subjectOf = ({ route, store, queue }: Record<string, unknown>): string =>
  String(route ?? store ?? queue ?? "");

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !(value instanceof Error);
}
