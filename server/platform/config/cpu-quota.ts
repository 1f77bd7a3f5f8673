import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";

/** The controller of version 1 has a folder of its own; version 2 has one hierarchy for all. */
const folderOfVersion = { 1: "sys/fs/cgroup/cpu", 2: "sys/fs/cgroup" } as const;
type Version = keyof typeof folderOfVersion;

/**
 * Number of processors that this process may keep busy: its affinity mask, and the quota of its control groups,
 * rounded down. The system stops all processes of a group for the rest of each period in which they exceed the quota,
 * so one worker more than the quota delays the requests of all. At least 1.
 */
export function usableCores(root = "/", cores = availableParallelism()): number {
  return Math.max(1, Math.floor(Math.min(cores, cpuQuota(root) ?? cores)));
}

/** Processors of the smallest quota of this process's control groups, which nest; null without one. */
function cpuQuota(root: string): number | null {
  const quotas = ownGroups(root).flatMap(({ version, path }) =>
    // A container may see its own group as the root of the hierarchy, whatever /proc calls it.
    ancestorsOf(path).map((group) => {
      const folder = join(root, folderOfVersion[version], group);
      return version === 2 ? quotaOfTwo(folder) : quotaOfOne(folder);
    }),
  );
  const known = quotas.filter((quota) => quota !== null);
  return known.length === 0 ? null : Math.min(...known);
}

/** Lines of /proc/self/cgroup: `0::/path` of version 2, `4:cpu,cpuacct:/path` of version 1. */
function ownGroups(root: string): { version: Version; path: string }[] {
  const lines = (read(join(root, "proc/self/cgroup")) ?? "").split("\n");
  return lines.flatMap((line): { version: Version; path: string }[] => {
    const [, id, controllers = "", path] = /^(\d+):([^:]*):(\/.*)$/.exec(line) ?? [];
    if (path === undefined) return [];
    if (id === "0" && controllers === "") return [{ version: 2, path }];
    return controllers.split(",").includes("cpu") ? [{ version: 1, path }] : [];
  });
}

/** `/a/b` → `/a/b`, `/a`, `/`. */
function ancestorsOf(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [path] : [path, ...ancestorsOf(parent)];
}

/** `cpu.max`: quota and period in microseconds, or `max` without a quota. */
function quotaOfTwo(folder: string): number | null {
  const [quota, period] = (read(join(folder, "cpu.max")) ?? "").trim().split(" ");
  return ratio(quota, period);
}

/** A quota of -1 means none. */
function quotaOfOne(folder: string): number | null {
  return ratio(read(join(folder, "cpu.cfs_quota_us")), read(join(folder, "cpu.cfs_period_us")));
}

function ratio(quota: string | null | undefined, period: string | null | undefined): number | null {
  const cores = Number(quota ?? Number.NaN) / Number(period ?? Number.NaN);
  return Number.isFinite(cores) && cores > 0 ? cores : null;
}

function read(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return null;
  }
}
