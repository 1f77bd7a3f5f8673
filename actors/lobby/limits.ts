/** Bounds and times of a lobby that are not configurable; in milliseconds unless noted. */

/** Grace period after the timer, for network latency (LOB-07). */
export const answerGraceMs = 2_000;
/** Deducted from the observed time before it overrides the client's own claim (SCO-04). */
export const observedToleranceMs = 1_500;
/** Reveals requested by anyone are merged to one per interval (LOB-15). */
export const revealMergeMs = 1_000;
/** The lobby finishes by itself this long after the reveal of the last question (LOB-18). */
export const lastRevealMs = 30_000;
/** After this time an unfinished start no longer blocks the next one (LOB-24: preparing takes up to 20 s). */
export const prepareLockMs = 25_000;
/** After this time a missing batch is requested again (LOB-20). */
export const fetchLockMs = 25_000;
/** Minimum interval between published changes of the number of spectators (HUB-08). */
export const spectatorsMergeMs = 2_000;
/** Inactivity limits (LOB-21). */
export const idleWaitingMs = 30 * 60_000;
export const idlePlayingMs = 15 * 60_000;
/** How long a finished lobby stays readable (LOB-21). */
export const finishedKeepMs = 24 * 3_600_000;

/** Within this time a follow-up of a heartbeat is not stored (LOB-19). */
export const followUpMs = 5_000;

/** Limits on seats (LOB-13). */
export const minPlayers = 2;
/** Batches of endless lobbies, in questions (LOB-20). */
export const batchSize = 10;
export const fetchWhenRemaining = 3;
export const maxEndlessQuestions = 200;
/** Bans kept per lobby; the oldest are dropped. */
export const maxBans = 256;
