/** Files that start services and browsers, which they share, and mostly wait; they run first. */
const hasServices = /^test.(boot|browser|failover|play|survival)./;
/** Files that wait some seconds for timeouts. Beside them the other two processes have a core each. */
const hasTimeouts =
  /(takeover|silence|unknown-outcome|idle-connections|raw-requests|silent-links|client.owner-port|delivery.domain.send)\.test\.ts$/;
const isWaiting = (file: string) => hasServices.test(file) || hasTimeouts.test(file);

/**
 * Decreasing batch sizes, so that all processes end together; not too small, since each process loads the
 * service. Neighbours are alike, also in duration, so every tenth file follows the previous one.
 */
export function mixedBatches(files: string[]): string[][] {
  const waiting = files.filter(isWaiting);
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
