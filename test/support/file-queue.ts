import { closeSync, globSync, openSync, statSync } from "node:fs";
import { join } from "node:path";

/** Files that start services and browsers, which they share, and mostly wait. */
const hasServices = /^test.(boot|browser|failover|play|faults.(survival|drain))./;
/** Files that wait some seconds for timeouts. */
const hasTimeouts =
  /(takeover|silence|unknown-outcome|idle-connections|raw-requests|silent-links|client.owner-port|delivery.domain.send)\.test\.ts$/;

/** Files that take longest, so that the processes end together. */
const isLong = /(faults.simulation|samples.cinderhold|importers.cli)\.test\.ts$/;

/**
 * The order in which each of `count` processes takes files that no other has taken. The first begins with
 * files that wait: it shares their services, and the others have a core each meanwhile. When no other file is
 * left, they take those from the end.
 */
export function ordersOf(files: string[], count: number): string[][] {
  const isWaiting = (file: string) => hasServices.test(file) || hasTimeouts.test(file);
  const waiting = files.filter(isWaiting);
  const others = files.filter((file) => !isWaiting(file));
  const rest = [
    ...others.filter((file) => isLong.test(file)),
    ...others.filter((file) => !isLong.test(file)),
  ];
  const [first, last] = [
    [...waiting, ...rest],
    [...rest, ...waiting.toReversed()],
  ];
  return Array.from({ length: count }, (_, at) => [...(at === 0 ? first : last)]);
}

/** The next file of an order that no process has taken; null at the end. */
export function takeFile(order: string[], folder: string): string | null {
  for (let file = order.shift(); file !== undefined; file = order.shift())
    if (isFirst(join(folder, `taken-${file.replaceAll(/[/\\]/g, "+")}`))) return file;
  return null;
}

/** Creates the file; false if it exists. */
function isFirst(path: string): boolean {
  try {
    closeSync(openSync(path, "wx"));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/**
 * The test files of files, folders and patterns, sorted, each once. A named file runs always; of a folder,
 * only files of the requested kind.
 */
export function filesOf(named: readonly string[], isDeep: boolean): string[] {
  const found = named.flatMap((path) => {
    const files = filesAt(path, isDeep);
    // Without it a mistyped name beside right ones would pass.
    if (files.length === 0)
      throw new Error(
        `${path} does not exist or has no ${isDeep ? "*.deep.test.ts; npm test runs the others" : "*.test.ts; npm run test:deep runs *.deep.test.ts"}`,
      );
    return files;
  });
  return [...new Set(found)].sort();
}

function filesAt(path: string, isDeep: boolean): string[] {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return globSync(path);
  return globSync(join(path, "**/*.test.ts")).filter((file) => file.includes(".deep.") === isDeep);
}
