import { LRUCache } from "lru-cache";
import type { LoggerOptions } from "pino";

/** Of one complaint about one thing so many lines are written in a window; both bound what a log can grow. */
const windowMs = 10_000;
export const mostInWindow = 10;
/** Complaints told apart at a time; an older one counts as new when it comes again. */
const maxKnown = 256;

const warn = 40;
const fatal = 60;

interface Window {
  since: number;
  lines: number;
  unsaid: number;
}

/**
 * Warnings and errors that come over and over are thinned: while a store is away, or one of our own rules is
 * broken, each request and each retry complains, and the disk would fill. The first line after the silence has
 * `unsaid`, the number of those left out. What operators did is never left out.
 */
export function thinComplaints(
  now: () => number = () => performance.now(),
): NonNullable<LoggerOptions["hooks"]> {
  const known = new LRUCache<string, Window>({ max: maxKnown });
  /** Null: to be left out; otherwise how many were before it. */
  const admit = (complaint: string): number | null => {
    const last = known.get(complaint);
    if (last !== undefined && now() - last.since < windowMs) {
      last.lines++;
      if (last.lines <= mostInWindow) return 0;
      last.unsaid++;
      return null;
    }
    known.set(complaint, { since: now(), lines: 1, unsaid: 0 });
    return last?.unsaid ?? 0;
  };
  return {
    logMethod(args, method, level) {
      const [facts, text] = args as [unknown, unknown];
      if (level < warn || level >= fatal || !isRecord(facts) || facts["audit"] === true)
        return method.apply(this, args);
      const unsaid = admit(`${String(text)} ${subjectOf(facts)}`);
      if (unsaid === null) return;
      if (unsaid === 0) return method.apply(this, args);
      return method.apply(this, [{ ...facts, unsaid }, text as string]);
    },
  };
}

/** One store that is away must not silence another, nor one route the next. */
const subjectOf = ({ route, store, queue }: Record<string, unknown>): string =>
  String(route ?? store ?? queue ?? "");

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !(value instanceof Error);
}
