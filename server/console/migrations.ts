import type { MikroORM } from "@mikro-orm/postgresql";
import { migrate, readMigrations, revert } from "../../db/migrate.ts";
import { createOrm } from "../../db/orm.ts";
import { checkReleaseOrder } from "../runtime/boot/release-order.ts";
import { startupStep } from "../runtime/boot/start-error.ts";
import { withStores } from "../runtime/boot/stores.ts";
import type { Config } from "../platform/config/config.ts";
import { silentLogger } from "../platform/log/logger.ts";
import { connectRedis, redisReady } from "../platform/redis/redis.ts";
import { Refusal, textOf, type ConsoleCommand, type Options } from "./command.ts";

const actions = ["status", "check", "up", "down"] as const;

export const migrationCommands: readonly ConsoleCommand[] = [
  {
    name: "migrate",
    summary: "Read or change the state of the database's migrations",
    optional: [
      ["--status", "list what is applied, pending, and unknown to this release"],
      ["--check", "exit with 1 while some are pending"],
      ["--up", "apply the pending ones"],
      ["--down", "revert the newest one, and lose the data that only it has room for"],
      ["--to <name>", "with --down: revert all after this one"],
    ],
    run,
  },
];

async function run(config: Config, options: Options): Promise<Record<string, unknown>> {
  const [action, ...others] = actions.filter((name) => options[name] === true);
  if (action === undefined || others.length > 0)
    throw new Refusal("migrate:one_action --status, --check, --up or --down");
  const to = textOf(options, "to");
  if (to !== undefined && action !== "down")
    throw new Refusal("migrate:one_action --to belongs to --down");
  return withStores(config, async ({ databaseUrl, redisUrl }) => {
    if (action === "up") await checkOrder(redisUrl);
    const orm = await createOrm({ DATABASE_URL: databaseUrl, DATABASE_POOL: 2 });
    try {
      return await perform(orm, action, to);
    } finally {
      await orm.close(true);
    }
  });
}

/** Migrations of a release too far ahead would drop what running processes still read. */
async function checkOrder(redisUrl: string): Promise<void> {
  const redis = connectRedis(redisUrl, silentLogger, "console");
  try {
    await startupStep("REDIS_URL cannot be reached", redisReady(redis));
    await checkReleaseOrder(redis);
  } finally {
    redis.disconnect();
  }
}

async function perform(orm: MikroORM, action: (typeof actions)[number], to: string | undefined) {
  const { applied, pending, unknown } = await startupStep(
    "the database (DATABASE_URL) cannot be read",
    readMigrations(orm),
  );
  switch (action) {
    case "status":
      return { applied, pending, unknown };
    case "check":
      if (pending.length > 0)
        throw new Refusal(`migrate:pending ${pending.length}, from ${pending[0]}`);
      return { num_applied: applied.length, num_unknown: unknown.length };
    case "up":
      return { applied: await startupStep("not migrated", migrate(orm)) };
    case "down":
      // Its own way back is in the release that applied it.
      if (unknown.length > 0)
        throw new Refusal(`migrate:unknown this release cannot revert ${unknown.at(-1)}`);
      if (to !== undefined && !applied.some(({ name }) => name === to))
        throw new Refusal(`migrate:not_applied ${to}`);
      return { reverted: await startupStep("not reverted", revert(orm, to)) };
    default:
      return action satisfies never;
  }
}
