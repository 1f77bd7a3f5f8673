/** A wait took longer than it may. */
export class DeadlineError extends Error {
  constructor(ms: number) {
    super(`No answer within ${ms} ms`);
    this.name = "DeadlineError";
  }
}

/** Rejects with DeadlineError when `work` takes longer; the work itself goes on unobserved. */
export function withTimeout<T>(work: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new DeadlineError(ms)), ms);
    work.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}
