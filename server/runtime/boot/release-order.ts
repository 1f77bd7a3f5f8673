import type { Redis } from "ioredis";
import { maintenance, queuePrefixOf } from "../../../workers/queues.ts";
import { finishedKey, recordFinished, releases, type Releases } from "../fleet/registry.ts";
import { settledUnregistered } from "../fleet/unregistered.ts";
import { StartError } from "./start-error.ts";

/** Ends a start on stores of a release that this one cannot read or run beside (BOOT-22). */
export async function checkReleaseOrder(
  redis: Redis,
  { own, previous }: Releases = releases,
): Promise<void> {
  const first = (await isNew(redis)) ? own : previous;
  await redis.set(finishedKey, first, "NX");
  const finished = (await redis.get(finishedKey)) ?? first;
  if (finished === own || finished === previous) return;
  if (isNewer(finished, own))
    throw new StartError(
      `release ${own} is older than ${finished}, of which the stores are since its upgrade was finished: start ${finished} or the release after it`,
    );
  throw new StartError(
    `release ${own} follows ${previous}, and the stores are of ${finished}: start ${previous} and run \`npm run console -- fleet:finish-upgrade\` with it`,
  );
}

const isNewer = (release: string, than: string) =>
  release.localeCompare(than, "en", { numeric: true }) > 0;

/** What keeps an upgrade open: each a process or an instance of another release. */
export class UpgradeOpen extends Error {
  constructor(others: readonly string[]) {
    super(`another release still runs: ${others.join(", ")}; stop it first`);
  }
}

/**
 * Declares that no process of the predecessor runs any more or will; resolves to the release before. UpgradeOpen while
 * one of another release lives, StartError for a release that could not start on these stores.
 */
export async function finishUpgrade(
  redis: Redis,
  order: Releases = releases,
): Promise<string | null> {
  await checkReleaseOrder(redis, order);
  const unknown = await settledUnregistered(redis);
  if (unknown.length > 0)
    throw new UpgradeOpen(unknown.map((node) => `HTTP worker ${node}, which does not register`));
  const result = await recordFinished(redis, order.own);
  if ("former" in result) return result.former;
  throw new UpgradeOpen(
    result.others.map(({ version, host, pid }) => `release ${version} at ${host}, pid ${pid}`),
  );
}

/** No release has run on this Redis. */
async function isNew(redis: Redis): Promise<boolean> {
  return (await redis.exists(`${queuePrefixOf(redis)}:${maintenance.name}:meta`)) === 0;
}
