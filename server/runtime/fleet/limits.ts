/** Bounds of the link between instances (BOOT-33). */
export const linkLimits = {
  /** Questions of this instance without an answer; further ones are not sent. */
  maxPending: 512,
  /** Questions of others that are being answered; further ones get no answer. */
  maxAnswering: 128,
  /** Bytes of a question or an answer; a larger one is not sent. */
  maxBytes: 1_048_576,
  /** Milliseconds, by the clock of Redis, after which a question is not answered: whoever asked may have given up. */
  validMs: 2_000,
};

/** Of a read of the registry, in milliseconds. */
export const readLimitMs = 500;
const successorMs = 1_000;

/**
 * Longest waits for other instances, in milliseconds. Whoever asks waits for longer than whoever answers, so that nobody
 * gives up an order that is then carried out.
 */
export const fleetWaits = {
  /** For the processes of an instance, whose primary waits a second for them. */
  report: 1_300,
  /** For an instance that takes the rooms of a worker. */
  successor: successorMs,
  /** For a drain: the order may be on its way, then the other instance reads the registry and asks the rest. */
  drain: linkLimits.validMs + readLimitMs + successorMs + 1_500,
};
