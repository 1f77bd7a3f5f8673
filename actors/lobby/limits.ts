/** Bounds and times of a lobby that nobody configures; milliseconds unless said otherwise. */

/** An answer may arrive this long after the timer, for the way through the network (LOB-07). */
export const answerGraceMs = 2_000;
/** What the observed time is reduced by before it outweighs the client's own (SCO-04). */
export const observedToleranceMs = 1_500;
/** Reveals asked for by anyone are merged to one per this time (LOB-15). */
export const revealMergeMs = 1_000;
/** After the reveal of the last question the lobby finishes by itself (LOB-18). */
export const lastRevealMs = 30_000;
/** A start that never came back stops blocking the next one (LOB-24: preparing takes up to 20 s). */
export const prepareLockMs = 25_000;
/** A batch that never came is asked for again (LOB-20). */
export const fetchLockMs = 25_000;
/** A changed number of spectators is published at most this often (HUB-08). */
export const spectatorsMergeMs = 2_000;
/** Idleness (LOB-21). */
export const idleWaitingMs = 30 * 60_000;
export const idlePlayingMs = 15 * 60_000;
/** A finished lobby is readable for so long (LOB-21). */
export const finishedKeepMs = 24 * 3_600_000;

/** Seats (LOB-13). */
export const minPlayers = 2;
/** Endless lobbies, in questions (LOB-20). */
export const batchSize = 10;
export const fetchWhenRemaining = 3;
export const maxEndlessQuestions = 200;
/** Remembered bans per lobby; the oldest are forgotten. */
export const maxBans = 256;
