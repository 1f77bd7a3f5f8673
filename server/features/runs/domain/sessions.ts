/** Idle time after which a play session ends (RUN-01). */
export const idleMs = 30 * 60_000;

/** Sessions whose last answer is older than this have ended. */
export const idleSince = (now: number): Date => new Date(now - idleMs);
