import type { Redis } from "ioredis";
import { maintenance, queuePrefixOf } from "../../../workers/queues.ts";
import { previousRelease } from "../../platform/forms.ts";
import { serviceVersion } from "../../platform/version.ts";
import { StartError } from "./start-error.ts";

/** The release whose forms rooms, jobs and messages may have; lost with them. */
const finishedKey = "release:finished";

interface Versions {
  own: string;
  previous: string;
}

const versions: Versions = { own: serviceVersion, previous: previousRelease };

/** Ends a start on stores of a release that this one cannot read or run beside (BOOT-22). */
export async function checkReleaseOrder(
  redis: Redis,
  { own, previous }: Versions = versions,
): Promise<void> {
  const first = (await isNew(redis)) ? own : previous;
  await redis.set(finishedKey, first, "NX");
  const finished = (await redis.get(finishedKey)) ?? first;
  if (finished === own || finished === previous) return;
  throw new StartError(
    `release ${own} follows ${previous}, and the stores are of ${finished}: start ${previous} and run \`npm run console -- fleet:finish-upgrade\` with it`,
  );
}

/** Declares that no process of the predecessor runs any more or will; resolves to the release before. */
export async function finishUpgrade(
  redis: Redis,
  { own }: Pick<Versions, "own"> = versions,
): Promise<string | null> {
  const former = await redis.get(finishedKey);
  await redis.set(finishedKey, own);
  return former;
}

/** No release has run on this Redis. */
async function isNew(redis: Redis): Promise<boolean> {
  return (await redis.exists(`${queuePrefixOf(redis)}:${maintenance.name}:meta`)) === 0;
}
