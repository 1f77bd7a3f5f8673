import { createOrm } from "../../db/orm.ts";
import type { Config } from "../platform/config/config.ts";
import { silentLogger } from "../platform/log/logger.ts";
import { connectRedis, redisReady } from "../platform/redis/redis.ts";
import { withStores } from "../runtime/boot/stores.ts";
import type { FleetInstance } from "../runtime/fleet/entry.ts";
import { readProblems } from "../runtime/fleet/problems.ts";
import { readFleet } from "../runtime/fleet/registry.ts";
import { Report, type ConsoleCommand } from "./command.ts";
import { finding, type Finding } from "./doctor/finding.ts";
import { fleetFindings } from "./doctor/fleet.ts";
import { machineFindings } from "./doctor/machine.ts";
import { postgresFindings, readPostgres, type Pools } from "./doctor/postgres.ts";
import { readRedis, redisFindings } from "./doctor/redis.ts";
import { settingsFindings } from "./doctor/settings.ts";

export const doctorCommands: readonly ConsoleCommand[] = [
  {
    name: "doctor",
    summary: "Check settings, machine, stores and fleet for production; exits with 1 for a problem",
    run: examine,
  },
];

async function examine(config: Config): Promise<Report> {
  const found = await withStores(config, async ({ databaseUrl, redisUrl }) => {
    const instances: FleetInstance[] = [];
    const redis = await reached("Redis", "REDIS_URL", () => examineRedis(redisUrl, instances));
    const pools = instances.length === 0 ? [config] : instances.map((one) => poolsOf(one, config));
    return [
      ...settingsFindings(config),
      ...(await machineFindings(config)),
      ...redis,
      ...(await reached("Postgres", "DATABASE_URL", () => examinePostgres(databaseUrl, pools))),
    ];
  });
  const count = (verdict: Finding["verdict"]) =>
    found.filter((one) => one.verdict === verdict).length;
  const counts = { num_problems: count("problem"), num_warnings: count("warning") };
  return new Report(tableOf(found), { checks: found, ...counts }, counts.num_problems > 0);
}

/** Instances have the same settings, except for their numbers of workers. */
const poolsOf = ({ workers }: FleetInstance, { DATABASE_POOL }: Config): Pools => ({
  HTTP_WORKERS: workers.http.num,
  JOB_WORKERS: workers.jobs.num,
  DATABASE_POOL,
});

/** The findings, or that the store does not answer. */
async function reached(
  store: string,
  setting: string,
  find: () => Promise<Finding[]>,
): Promise<Finding[]> {
  try {
    return [finding(store, null, "answers"), ...(await find())];
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return [finding(store, { found: reason, todo: `check ${setting} and the network` }, "")];
  }
}

/** Adds the live instances, which are registered in Redis. */
async function examineRedis(url: string, instances: FleetInstance[]): Promise<Finding[]> {
  const redis = connectRedis(url, silentLogger, "doctor");
  try {
    await redisReady(redis);
    instances.push(...(await readFleet(redis)));
    const problems = await readProblems(redis);
    return [...redisFindings(await readRedis(redis)), ...fleetFindings(instances, problems)];
  } finally {
    redis.disconnect();
  }
}

async function examinePostgres(url: string, pools: readonly Pools[]): Promise<Finding[]> {
  const orm = await createOrm({ DATABASE_URL: url, DATABASE_POOL: 1 });
  try {
    return postgresFindings(await readPostgres(orm), pools);
  } finally {
    await orm.close(true);
  }
}

/** One line per check, and below it what to do. */
function tableOf(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ check }) => check.length));
  const lines = findings.map(({ check, verdict, found, todo }) => {
    const line = `${verdict.padEnd("problem".length)}  ${check.padEnd(width)}  ${found}`;
    const indent = " ".repeat("problem".length + width + 4);
    return todo === "" ? `${line}\n` : `${line}\n${indent}→ ${todo}\n`;
  });
  return lines.join("");
}
