/** A wait that exceeded its deadline. */
export class DeadlineError extends Error {
  constructor(ms: number) {
    super(`No answer within ${ms} ms`);
    this.name = "DeadlineError";
  }
}

/** Longest wait of an operator's page for one store or process, in milliseconds (OPS-94). */
export const pageSourceMs = 1_500;

/** Rejects with DeadlineError if `work` takes longer; the work continues unobserved. */
export async function withTimeout<T>(work: Promise<T>, ms: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new DeadlineError(ms)), ms);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
