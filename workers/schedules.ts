import type { Logger } from "../server/platform/log/logger.ts";
import type { Queues } from "./producer.ts";
import { maintenance } from "./queues.ts";

/** What is done again and again: every process asks for it, the store keeps one of each. */
export const schedules = [
  { task: "messages", everyMs: 60_000 },
  { task: "credentials", everyMs: 60_000 },
  { task: "wallets", everyMs: 60_000 },
  { task: "play-sessions", everyMs: 600_000 },
  { task: "boards", everyMs: 60_000 },
  { task: "challenges", everyMs: 600_000 },
  { task: "accounts", everyMs: 600_000 },
  { task: "avatars", everyMs: 120_000 },
  { task: "archive", everyMs: 86_400_000 },
  { task: "projection", everyMs: 600_000 },
] as const;

/** Starts the periodic jobs; safe from any number of processes. */
export async function startSchedules(queues: Pick<Queues, "schedule">): Promise<void> {
  for (const { task, everyMs } of schedules) await queues.schedule(maintenance, { task }, everyMs);
}

/** How often it is asked for them again: a store may have been away, or have lost what it had. */
const againMs = 60_000;

/** Keeps the periodic jobs going; returns what ends it. */
export async function keepSchedules(
  queues: Pick<Queues, "schedule">,
  log: Logger,
): Promise<() => void> {
  const ask = () =>
    startSchedules(queues).catch((error: unknown) => log.warn({ err: error }, "schedules"));
  await ask();
  const timer = setInterval(() => void ask(), againMs);
  return () => clearInterval(timer);
}
