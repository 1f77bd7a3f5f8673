/** Works on a value once it is there: now, unless it is a promise. */
export const after = <T, R>(
  value: Promise<T> | T,
  work: (value: T) => R,
): Promise<Awaited<R>> | R =>
  value instanceof Promise ? (value.then(work) as Promise<Awaited<R>>) : work(value);
