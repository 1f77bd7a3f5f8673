import { spectatorsMergeMs } from "./limits.ts";
import type { Lobby, LobbyCommand } from "./types.ts";

/** Last spectator count of a lobby reported by each process; kept in memory only (HUB-08). */
export interface Audience {
  reports: Map<string, { count: number; at: number }>;
  /** After a reload the published count remains valid until the processes have reported again. */
  carried: { count: number; until: number };
}

/** A process without a report for this long has no spectators. */
const reportTtlMs = 60_000;
/** Every process repeats its count more often than this. */
const carriedMs = 30_000;
/** Maximum number of processes per lobby; reports of further ones are dropped. */
const maxWorkers = 256;

export function newAudience(lobby: Lobby | null, now: number): Audience {
  return {
    reports: new Map(),
    carried: { count: lobby?.spectatorCount ?? 0, until: now + carriedMs },
  };
}

/** Adds the sum of all counts to commands that need it. */
export function withAudience(audience: Audience, command: LobbyCommand, now: number): LobbyCommand {
  if (command.type === "tick") return { ...command, spectators: sumOf(audience, now) };
  if (command.type !== "spectators") return command;
  addReport(audience, command.worker, command.count, now);
  return { ...command, sum: sumOf(audience, now) };
}

function addReport({ reports }: Audience, worker: string, count: number, now: number): void {
  if (count <= 0) reports.delete(worker);
  else if (reports.has(worker) || reports.size < maxWorkers)
    reports.set(worker, { count, at: now });
}

export function sumOf({ reports, carried }: Audience, now: number): number {
  let sum = 0;
  for (const [worker, { count, at }] of reports) {
    // The absolute difference, so that a clock set back does not delay the removal (S40).
    if (Math.abs(now - at) >= reportTtlMs) reports.delete(worker);
    else sum += count;
  }
  return now < carried.until ? Math.max(sum, carried.count) : sum;
}

/** When the sum may change without a report, or a changed sum may be published; null if neither is due. */
export function audienceDue(audience: Audience, lobby: Lobby, now: number): number | null {
  if (lobby.status === "finished") return null;
  const { reports, carried } = audience;
  if (reports.size === 0 && carried.count === 0 && !lobby.spectatorCount) return null;
  if (sumOf(audience, now) !== (lobby.spectatorCount ?? 0)) {
    const toldAt = lobby.spectatorsToldAt ?? 0;
    return Math.abs(now - toldAt) < spectatorsMergeMs ? toldAt + spectatorsMergeMs : now;
  }
  const times = [...reports.values()].map(({ at }) => at + reportTtlMs);
  if (carried.count > 0 && now < carried.until) times.push(carried.until);
  return times.length === 0 ? null : Math.min(...times);
}
