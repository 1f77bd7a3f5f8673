import type { Logger } from "../server/platform/log/logger.ts";
import type { JobQueues } from "./lazy-queues.ts";
import { maintenance } from "./queues.ts";

/** The periodic jobs: every process registers them, Redis keeps one of each. */
export const schedules = [
  { task: "messages", everyMs: 60_000 },
  { task: "credentials", everyMs: 60_000 },
  { task: "wallets", everyMs: 60_000 },
  { task: "play-sessions", everyMs: 600_000 },
  { task: "alerts", everyMs: 60_000 },
  { task: "boards", everyMs: 60_000 },
  { task: "challenges", everyMs: 600_000 },
  { task: "accounts", everyMs: 600_000 },
  { task: "avatars", everyMs: 120_000 },
  { task: "archive", everyMs: 86_400_000 },
  { task: "projection", everyMs: 600_000 },
  { task: "group-actions", everyMs: 600_000 },
] as const;

/** Registers the periodic jobs; safe from any number of processes. */
export async function startSchedules(queues: Pick<JobQueues, "schedule">): Promise<void> {
  for (const { task, everyMs } of schedules) await queues.schedule(maintenance, { task }, everyMs);
}

/** Interval of re-registration, since Redis may have been down or may have lost them. */
const retryMs = 60_000;

/** Registers the periodic jobs repeatedly; returns a function that stops it. */
export async function registerSchedules(
  queues: Pick<JobQueues, "schedule">,
  log: Logger,
  everyMs = retryMs,
): Promise<() => void> {
  const ask = () =>
    startSchedules(queues).catch((error: unknown) =>
      log.warn(
        { event: "schedule_registration_failed", err: error },
        "could not register the periodic jobs, retrying",
      ),
    );
  await ask();
  const timer = setInterval(() => void ask(), everyMs);
  return () => clearInterval(timer);
}
