import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createBackup } from "../../../../server/features/backup/domain/create.ts";
import type { Manifest } from "../../../../server/features/backup/domain/manifest.ts";
import { BackupRefused } from "../../../../server/features/backup/domain/refusal.ts";
import {
  restoreBackup,
  type RestoreOptions,
} from "../../../../server/features/backup/domain/restore.ts";
import { parseConfig, type Config } from "../../../../server/platform/config/config.ts";
import { silentLogger } from "../../../../server/platform/log/logger.ts";
import { withDatabase } from "../../../../server/platform/postgres/database-url.ts";
import { connectRedis, redisReady } from "../../../../server/platform/redis/redis.ts";
import { withClient } from "../../../../server/runtime/stores/postgres.ts";
import { acquireRedis } from "../../../support/redis-server.ts";

let databases = 0;

/** An empty database and an empty Redis, on the Postgres of `besideUrl`. */
export interface Target {
  databaseUrl: string;
  redisUrl: string;
  /** With a folder for pictures. */
  config: Config;
  stop(): Promise<void>;
}

export async function emptyTarget(besideUrl: string): Promise<Target> {
  const server = withDatabase(besideUrl, "postgres");
  const name = `restored_${process.pid}_${++databases}`;
  const admin = (text: string) => withClient(server, (client) => client.query(text));
  await admin(`create database ${name}`);
  const redis = await acquireRedis();
  const dataDir = mkdtempSync(join(tmpdir(), "ember-data-"));
  return {
    databaseUrl: withDatabase(besideUrl, name),
    redisUrl: redis.url,
    config: parseConfig({ DATA_DIR: dataDir }),
    stop: async () => {
      rmSync(dataDir, { recursive: true, force: true });
      await redis.release();
      await admin(`drop database ${name} with (force)`);
    },
  };
}

/** Removed by `clean`. */
export interface Folders {
  folder(): string;
  clean(): void;
}

export function temporaryFolders(): Folders {
  const made: string[] = [];
  return {
    folder: () => {
      const folder = mkdtempSync(join(tmpdir(), "ember-backup-"));
      made.push(folder);
      return folder;
    },
    clean: () => made.forEach((folder) => rmSync(folder, { recursive: true, force: true })),
  };
}

/** Of a service whose pictures are in a bucket, which are not copied. */
const withBucket = parseConfig({ AVATAR_STORE: "https://id:secret@bucket.example/avatars" });

export const backUp = (
  databaseUrl: string,
  folder: string,
  config = withBucket,
): Promise<Manifest> =>
  createBackup({ config, databaseUrl, folder, signal: new AbortController().signal });

export async function restore(
  target: Target,
  folder: string,
  options: Partial<RestoreOptions> = {},
): ReturnType<typeof restoreBackup> {
  const { databaseUrl, redisUrl } = target;
  const redis = connectRedis(redisUrl, silentLogger, "restore");
  try {
    await redisReady(redis);
    const choices = { skipIds: 1_000, endsSessions: false, now: new Date() };
    const given = { config: target.config, databaseUrl, redis, folder };
    return await restoreBackup({ ...choices, ...given, ...options });
  } finally {
    redis.disconnect();
  }
}

/** Table -> digest of its rows, without the columns that a restore changes. */
export function digestRows(
  url: string,
  without: Readonly<Record<string, readonly string[]>> = {},
): Promise<Record<string, string>> {
  return withClient(url, async (client) => {
    await client.query("set timezone = 'UTC'");
    const { rows: tables } = await client.query<{ name: string }>(
      `select relname::text as name from pg_class
       where relnamespace = 'public'::regnamespace and relkind = 'r' order by relname`,
    );
    const digests: Record<string, string> = {};
    for (const { name } of tables) {
      const row = (without[name] ?? []).reduce(
        (text, column) => `${text} - '${column}'`,
        "to_jsonb(t)",
      );
      const { rows } = await client.query<{ digest: string }>(
        `select count(*) || ' ' || coalesce(md5(string_agg(row, e'\\n' order by row collate "C")), '') as digest
         from (select (${row})::text as row from public."${name}" t) rows`,
      );
      digests[name] = rows[0]?.digest ?? "";
    }
    return digests;
  });
}

/** The code of a refusal; null for work that ended well. */
export const codeOf = (work: Promise<unknown>): Promise<string | null> =>
  work.then(
    () => null,
    (error: unknown) => {
      if (error instanceof BackupRefused) return error.code;
      throw error;
    },
  );
