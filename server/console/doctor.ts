import { createOrm } from "../../db/orm.ts";
import type { Config } from "../platform/config/config.ts";
import { silentLogger } from "../platform/log/logger.ts";
import { connectRedis, redisReady } from "../platform/redis/redis.ts";
import { serviceVersion } from "../platform/version.ts";
import { withStores } from "../runtime/boot/stores.ts";
import { Report, type ConsoleCommand } from "./command.ts";
import { finding, type Finding } from "./doctor/finding.ts";
import { fleetFindings, type InstanceFacts } from "./doctor/fleet.ts";
import { machineFindings } from "./doctor/machine.ts";
import { postgresFindings, readPostgres } from "./doctor/postgres.ts";
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
    const fleet = [ownFacts(config)];
    return [
      ...settingsFindings(config),
      ...(await machineFindings(config)),
      ...(await reached("Redis", "REDIS_URL", () => examineRedis(redisUrl))),
      ...(await reached("Postgres", "DATABASE_URL", () =>
        examinePostgres(
          databaseUrl,
          fleet.map(() => config),
        ),
      )),
      ...fleetFindings(config, fleet),
    ];
  });
  const count = (verdict: Finding["verdict"]) =>
    found.filter((one) => one.verdict === verdict).length;
  const counts = { num_problems: count("problem"), num_warnings: count("warning") };
  return new Report(tableOf(found), { checks: found, ...counts }, counts.num_problems > 0);
}

const ownFacts = (config: Config): InstanceFacts => ({
  version: serviceVersion,
  numHttpWorkers: config.HTTP_WORKERS,
  numJobWorkers: config.JOB_WORKERS,
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

async function examineRedis(url: string): Promise<Finding[]> {
  const redis = connectRedis(url, silentLogger, "doctor");
  try {
    await redisReady(redis);
    return redisFindings(await readRedis(redis));
  } finally {
    redis.disconnect();
  }
}

async function examinePostgres(url: string, fleet: readonly Config[]): Promise<Finding[]> {
  const orm = await createOrm({ DATABASE_URL: url, DATABASE_POOL: 1 });
  try {
    return postgresFindings(await readPostgres(orm), fleet);
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
