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
  return [...(waiting.length > 0 ? [waiting] : []), ...shrinkingBatches(mixed, 4, 24)];
}

/**
 * Each batch takes one of `parts` of the remaining files, and at least `least` files. The last one also takes
 * a rest that is too small for a process of its own.
 */
export function shrinkingBatches(files: string[], parts: number, least: number): string[][] {
  const batches: string[][] = [];
  for (let rest = files; rest.length > 0; rest = rest.slice(batches.at(-1)?.length)) {
    const size = Math.max(least, Math.floor(rest.length / parts));
    batches.push(rest.length - size < least / 2 ? rest : rest.slice(0, size));
  }
  return batches;
}
