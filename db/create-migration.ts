import { mkdtempSync, chmodSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { MikroORM } from "@mikro-orm/postgresql";
import { format, resolveConfig } from "prettier";
import { silentLogger } from "../server/platform/log/logger.ts";
import { onStopSignals } from "../server/runtime/boot/signals.ts";
import { startLocalPostgres } from "../server/runtime/stores/postgres.ts";
import { migrate } from "./migrate.ts";
import { createOrm, migrationFolder } from "./orm.ts";

/**
 * `npm run migration:create -- [name]`: compares the entities with what the migrations make of an
 * empty database and writes the difference. Read the file, then add it to migrations/index.ts.
 */
const name = process.argv[2];
const dir = mkdtempSync(join(tmpdir(), "ember-migration-"));
chmodSync(dir, 0o755);
let isInterrupted = false;
const interrupt = () => void (isInterrupted = true);
// It ends between two steps then, with nothing written and nothing left running.
onStopSignals({ first: interrupt, again: interrupt });
try {
  await create();
} catch (error) {
  if (!isInterrupted) throw error;
} finally {
  rmSync(dir, { recursive: true, force: true });
}
if (isInterrupted) process.exitCode = 130;

async function create(): Promise<void> {
  const postgres = await startLocalPostgres({
    dataDir: join(dir, "d"),
    socketDir: join(dir, "s"),
    log: silentLogger,
    fsync: false,
  });
  const orm = await createOrm({ DATABASE_URL: postgres.url, DATABASE_POOL: 2 });
  try {
    if (!isInterrupted) await migrate(orm);
    if (!isInterrupted) await write(orm);
  } finally {
    await orm.close(true);
    await postgres.stop();
  }
}

async function write(orm: MikroORM): Promise<void> {
  const { fileName } = await orm.migrator.create(migrationFolder, false, false, name);
  if (fileName === "") {
    process.stdout.write("The migrations already match the entities.\n");
    return;
  }
  const path = join(migrationFolder, fileName);
  const options = { ...(await resolveConfig(path)), filepath: path };
  writeFileSync(path, await format(readFileSync(path, "utf8"), options));
  process.stdout.write(
    `Wrote db/migrations/${fileName}. Read it, then add it to db/migrations/index.ts.\n`,
  );
}
