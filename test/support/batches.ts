/** Files that start services and browsers, which they share, and mostly wait; they run first. */
const isWaiting = /^test.(boot|browser|failover|play|survival)./;

/**
 * Decreasing batch sizes, so that all processes end together; not too small, since each process loads the
 * service. Neighbours are alike, also in duration, so every tenth file follows the previous one.
 */
export function mixedBatches(files: string[]): string[][] {
  const waiting = files.filter((file) => isWaiting.test(file));
  const rest = files.filter((file) => !waiting.includes(file));
  const step = 10;
  const mixed = Array.from({ length: step }, (_, first) =>
    rest.filter((_, at) => at % step === first),
  ).flat();
  return [...(waiting.length > 0 ? [waiting] : []), ...shrinkingBatches(mixed, 4, 32)];
}

/** Each batch takes one of `parts` of the remaining files, and at least `least` files. */
export function shrinkingBatches(files: string[], parts: number, least: number): string[][] {
  const batches: string[][] = [];
  for (let at = 0; at < files.length; at += batches.at(-1)?.length ?? 0)
    batches.push(files.slice(at, at + Math.max(least, Math.floor((files.length - at) / parts))));
  return batches;
}
