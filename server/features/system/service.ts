import { pingDatabase } from "../../../db/orm.ts";
import { withTimeout } from "../../platform/time/deadline.ts";
import { AppError } from "../../platform/errors.ts";
import type { WithOrm, WithRedis } from "../../platform/capabilities.ts";
import type { SystemDeps } from "./deps.ts";

/** Timeout of all checks together (SYS-01). */
const databaseLimitMs = 1_800;
const redisLimitMs = 1_000;

export interface Health {
  status: "ok" | "degraded";
  uptime: string;
}

/** Throws when Postgres is down; without Redis the service runs degraded. */
export async function readHealth(deps: WithOrm & WithRedis): Promise<Health> {
  const [hasDatabase, hasRedis] = await Promise.all([
    pingDatabase(deps.orm, databaseLimitMs),
    pingRedis(deps.redis, redisLimitMs),
  ]);
  if (!hasDatabase)
    throw new AppError("system:database_unreachable", {
      headers: [["Cache-Control", "no-store"]],
    });
  return { status: hasRedis ? "ok" : "degraded", uptime: formatUptime(process.uptime()) };
}

export const pingRedis = (redis: SystemDeps["redis"], limitMs: number): Promise<boolean> =>
  withTimeout(redis.ping(), limitMs).then(
    () => true,
    () => false,
  );

export function formatUptime(seconds: number): string {
  const whole = Math.floor(seconds);
  const parts = [whole / 86_400, (whole % 86_400) / 3_600, (whole % 3_600) / 60, whole % 60];
  const [d, h, m, s] = parts.map(Math.floor);
  return `${d}d ${h}h ${m}m ${s}s`;
}
