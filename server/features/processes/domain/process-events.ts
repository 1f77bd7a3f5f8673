import type { MikroORM } from "@mikro-orm/postgresql";
import { AppError } from "../../../platform/errors.ts";
import type { StoredProcessEvent } from "../../../platform/process-event.ts";
import type { Clock } from "../../../platform/time/clock.ts";
import { pageSourceMs, withTimeout } from "../../../platform/time/deadline.ts";

/** The most that one question returns. */
export const maxListedEvents = 500;
/** The clocks of the machines of a service may differ by this. */
export const clockSkewMs = 60_000;

/** Events of processes as they are read, newest first; each call rejects while Postgres is away. */
export interface ProcessEvents {
  /** Those of the last `ms` milliseconds, for the marks of a chart. */
  since(ms: number): Promise<StoredProcessEvent[]>;
  /** The last ones, whenever they were. */
  last(limit: number): Promise<StoredProcessEvent[]>;
  /** Those from `fromMs` to before `toMs`. */
  between(fromMs: number, toMs: number): Promise<StoredProcessEvent[]>;
}

export interface ProcessEventsDeps {
  /** Opens the database; it may be away. */
  open: () => Promise<MikroORM>;
  clock: Clock;
}

/** Loads the query at the first call, like the database layer. */
export function createProcessEvents({ open, clock }: ProcessEventsDeps): ProcessEvents {
  const list = async (fromMs: number, toMs: number, limit: number) => {
    const period = { from: new Date(fromMs), to: new Date(toMs) };
    const read = async () => {
      const queries = await import("../../../../db/queries/processes/process-events.ts");
      return queries.listProcessEvents((await open()).em.fork(), period, limit);
    };
    return withTimeout(read(), pageSourceMs).catch((cause: unknown) => {
      throw new AppError("worker:events_unavailable", { cause, params: { retry_after: 1 } });
    });
  };
  const until = () => clock.now() + clockSkewMs;
  return {
    last: (limit) => list(0, until(), limit),
    between: (fromMs, toMs) => list(fromMs, toMs, maxListedEvents),
    since: (ms) => list(clock.now() - ms, until(), maxListedEvents),
  };
}
