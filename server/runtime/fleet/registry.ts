import type { Redis } from "ioredis";
import { previousRelease } from "../../platform/forms.ts";
import { scriptOf } from "../../platform/redis/script.ts";
import { serviceVersion } from "../../platform/version.ts";
import { readEntry, storedEntry, type FleetInstance, type InstanceEntry } from "./entry.ts";

/** One slot of Redis Cluster, so that one script sees all. */
const leasesKey = "{fleet}:leases";
const entriesKey = "{fleet}:entries";
/** The release whose forms rooms, jobs and messages may have; lost with them (BOOT-22). */
export const finishedKey = "{fleet}:finished";

/** An instance that has not renewed its lease for this long is gone. */
export const leaseMs = 15_000;
/** A further instance serves, but is not registered. */
export const maxInstances = 256;

const joinScript = scriptOf("server/runtime/fleet/join.lua");
const liveScript = scriptOf("server/runtime/fleet/live.lua");
const finishScript = scriptOf("server/runtime/fleet/finish-upgrade.lua");

/**
 * `full`: the registry holds `maxInstances`. `release`: the stores are of a release that cannot run beside this one.
 * `secret`: live instances know none of its secrets.
 */
export type JoinOutcome = "joined" | "full" | "release" | "secret";

export interface Joined {
  outcome: JoinOutcome;
  /** Milliseconds since 1970 by the clock of Redis. */
  now: number;
}

export interface Releases {
  own: string;
  previous: string;
}
export const releases: Releases = { own: serviceVersion, previous: previousRelease };

/** The live instances of the fleet, by host and start. */
export async function readFleet(redis: Redis): Promise<FleetInstance[]> {
  const found = (await liveScript(redis, [leasesKey, entriesKey])) as string[];
  const instances = Array.from({ length: found.length / 2 }, (_, i) =>
    readEntry(found[2 * i] ?? "", found[2 * i + 1] ?? ""),
  );
  return instances.sort(
    (a, b) => a.host.localeCompare(b.host) || a.startedAt - b.startedAt || a.id.localeCompare(b.id),
  );
}

/** Registers an instance if it may run beside the others; otherwise nothing changes. */
export const joinFleet = (
  redis: Redis,
  id: string,
  entry: InstanceEntry,
  { own, previous }: Releases = releases,
): Promise<Joined> => register(redis, id, entry, own, previous, ...entry.secrets);

/** Extends the lease, or registers again after it was lost; resolves to `joined` or `full`. */
export const renewLease = (redis: Redis, id: string, entry: InstanceEntry): Promise<Joined> =>
  register(redis, id, entry, "", "");

async function register(
  redis: Redis,
  id: string,
  entry: InstanceEntry,
  ...more: string[]
): Promise<Joined> {
  const keys = [leasesKey, entriesKey, finishedKey];
  const args = [id, storedEntry(entry), leaseMs, maxInstances, ...more];
  const [outcome, now] = (await joinScript(redis, keys, ...args)) as [JoinOutcome, number];
  return { outcome, now };
}

/** Ends the lease. */
export async function leaveFleet(redis: Redis, id: string): Promise<void> {
  await redis.zrem(leasesKey, id);
  await redis.hdel(entriesKey, id);
}

/**
 * Records the release of a finished upgrade, in one step with the check that no instance of another release lives.
 * Resolves to the release before, null for none, or to the instances of other releases, without their ids.
 */
export async function recordFinished(
  redis: Redis,
  own: string,
): Promise<{ former: string | null } | { others: FleetInstance[] }> {
  const keys = [leasesKey, entriesKey, finishedKey];
  const [isDone, ...found] = (await finishScript(redis, keys, own)) as [number, ...string[]];
  if (isDone === 1) return { former: found[0] || null };
  return { others: found.map((text) => readEntry("", text)) };
}
