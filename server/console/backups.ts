import { resolve } from "node:path";
import type { MikroORM } from "@mikro-orm/postgresql";
import { readMigrations } from "../../db/migrate.ts";
import { createOrm } from "../../db/orm.ts";
import { maxSkippedIds, usualSkippedIds } from "../features/backup/domain/after-restore.ts";
import { checkBackup, describeBackup } from "../features/backup/domain/check.ts";
import { createBackup } from "../features/backup/domain/create.ts";
import type { Manifest } from "../features/backup/domain/manifest.ts";
import { BackupRefused } from "../features/backup/domain/refusal.ts";
import { restoreBackup } from "../features/backup/domain/restore.ts";
import { allOperators } from "../features/operators/domain/operators.ts";
import type { Config } from "../platform/config/config.ts";
import { silentLogger } from "../platform/log/logger.ts";
import { connectRedis, redisReady } from "../platform/redis/redis.ts";
import { keyIdOf } from "../platform/security/tokens.ts";
import { systemClock } from "../platform/time/clock.ts";
import { startupStep } from "../runtime/boot/start-error.ts";
import { Interrupted, withStores, type RunningStores } from "../runtime/boot/stores.ts";
import { Refusal, textOf, type ConsoleCommand, type Options } from "./command.ts";
import { makeAudited } from "./in-database.ts";

const from: [string, string] = ["--from <folder>", "folder of the backup"];

export const backupCommands: readonly ConsoleCommand[] = [
  {
    name: "backup:create",
    summary: "Copy the database and the uploaded avatars while the service runs",
    required: [["--to <folder>", "a folder that does not exist or is empty"]],
    run: (config, options) => refusing(() => create(config, folderOf(options, "to"))),
  },
  {
    name: "backup:check",
    summary: "Read all of a backup and compare it with its digests",
    required: [from],
    run: (_config, options) =>
      refusing(async () => describeBackup(await checkBackup(folderOf(options, "from")))),
  },
  {
    name: "backup:restore",
    summary: "Restore a backup into an empty database beside an empty Redis",
    required: [from],
    optional: [
      ["--end-sessions", "sign everybody out; guests return with their reclaim token"],
      [
        "--skip-ids <number>",
        `ids of each kind that may have been given out since the backup; default ${usualSkippedIds}`,
      ],
    ],
    run: (config, options) => refusing(() => restore(config, options)),
  },
];

const folderOf = (options: Options, name: "to" | "from"): string =>
  resolve(textOf(options, name) ?? "");

function refusing<T>(work: () => Promise<T>): Promise<T> {
  return work().catch((error: unknown) => {
    if (error instanceof BackupRefused) throw new Refusal(error.message);
    throw error;
  });
}

async function create(config: Config, folder: string): Promise<Record<string, unknown>> {
  const interruption = new AbortController();
  const { signal } = interruption;
  // The work ends itself, and leaves the folder empty.
  const cancel = () => interruption.abort(new Interrupted("interrupted"));
  const copy = ({ databaseUrl }: RunningStores) =>
    withOrm(databaseUrl, async (orm) => {
      await requireOwnSchema(orm);
      const change = { action: "backup:create", target: folder };
      return makeAudited(orm.em.fork(), change, async () => {
        const manifest = await createBackup({ config, databaseUrl, folder, signal });
        const result = { folder, ...describeBackup(manifest) };
        return { result, detail: { backup: manifest.id }, numChanged: null };
      });
    });
  return withStores(config, copy, cancel).catch((error: unknown) => {
    throw signal.aborted ? signal.reason : error;
  });
}

async function withOrm<T>(databaseUrl: string, work: (orm: MikroORM) => Promise<T>): Promise<T> {
  const orm = await createOrm({ DATABASE_URL: databaseUrl, DATABASE_POOL: 2 });
  try {
    return await work(orm);
  } finally {
    await orm.close(true);
  }
}

/** A backup names the release that can restore it, and migrates nothing. */
async function requireOwnSchema(orm: MikroORM): Promise<void> {
  const reading = readMigrations(orm);
  const { pending, unknown } = await startupStep("DATABASE_URL cannot be read", reading);
  const other = pending[0] ?? unknown[0];
  if (other !== undefined) throw new BackupRefused("backup:other_release", other);
}

async function restore(config: Config, options: Options): Promise<Record<string, unknown>> {
  const choices = {
    skipIds: skippedIds(textOf(options, "skipIds")),
    endsSessions: options["endSessions"] === true,
    now: new Date(systemClock.now()),
  };
  const folder = folderOf(options, "from");
  return withStores(config, async ({ databaseUrl, redisUrl }) => {
    const redis = connectRedis(redisUrl, silentLogger, "console");
    try {
      await startupStep("REDIS_URL cannot be reached", redisReady(redis));
      const given = { ...choices, config, databaseUrl, redis, folder };
      const { manifest, notRestored, numSessionsEnded } = await restoreBackup(given);
      return {
        ...describeBackup(manifest),
        not_restored: notRestored,
        num_sessions_ended: numSessionsEnded,
        app_secret: describeSecret(config, manifest),
        operators: await withOrm(databaseUrl, activeOperators),
      };
    } finally {
      redis.disconnect();
    }
  });
}

/** Each may have been revoked since the backup. */
async function activeOperators(orm: MikroORM): Promise<string[]> {
  const all = await allOperators(orm.em.fork());
  return all.filter((operator) => !operator.is_revoked).map(({ name }) => name);
}

function describeSecret(config: Config, { secret }: Manifest): string {
  const known = [config.APP_SECRET, config.APP_SECRET_PREVIOUS].filter((text) => text !== "");
  return known.some((text) => keyIdOf(text) === secret)
    ? "known"
    : "another one than at the backup: all tokens are refused unless APP_SECRET_PREVIOUS is that one";
}

function skippedIds(text: string | undefined): number {
  if (text === undefined) return usualSkippedIds;
  const number = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  if (number < 1 || number > maxSkippedIds) throw new BackupRefused("backup:invalid_ids");
  return number;
}
