import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { Refusal, type Options } from "../../../server/console/command.ts";
import { backupCommands } from "../../../server/console/backups.ts";
import { parseConfig, type Config } from "../../../server/platform/config/config.ts";
import { withClient } from "../../../server/runtime/stores/postgres.ts";
import { testStores, type TestStores } from "../../support/stores.ts";
import { emptyTarget, temporaryFolders, type Target } from "../features/backup/targets.ts";

const folders = temporaryFolders();
let stores: TestStores;
let target: Target;
let config: Config;

async function run(
  name: string,
  options: Options,
  settings: Partial<Config> = {},
): Promise<Record<string, unknown>> {
  const command = backupCommands.find((each) => each.name === name);
  assert.ok(command);
  const result = await command.run({ ...config, ...settings }, options);
  assert.ok(typeof result === "object");
  return { ...result };
}

const refused = (name: string, options: Options, code: string) =>
  assert.rejects(
    run(name, options),
    (error) => error instanceof Refusal && error.message.startsWith(`${code} `),
  );

const query = async <T extends object>(url: string, text: string): Promise<T[]> =>
  withClient(url, async (client) => (await client.query<T>(text)).rows);

describe("the commands for backups", () => {
  before(async () => {
    stores = await testStores();
    target = await emptyTarget(stores.databaseUrl);
    const { databaseUrl: DATABASE_URL, redisUrl: REDIS_URL } = stores;
    config = parseConfig({ DATABASE_URL, REDIS_URL, DATA_DIR: folders.folder() });
    const operators = "('ada', 'admin', 'x', null), ('bob', 'viewer', 'y', now())";
    await query(
      stores.databaseUrl,
      `insert into operators (name, role, token_hash, revoked_at) values ${operators}`,
    );
  });
  after(async () => {
    await target.stop();
    await stores.stop();
    folders.clean();
  });

  it("create, check and restore one, and say what to look at", async () => {
    const folder = join(folders.folder(), "new", "monday");
    const { folder: named, ...facts } = await run("backup:create", { to: folder });
    assert.equal(named, folder);
    assert.deepEqual([facts["release"], facts["num_pictures"]], ["0.1.0", 0]);
    assert.deepEqual(await run("backup:check", { from: folder }), facts);
    const [entry] = await query<{ text: string }>(
      stores.databaseUrl,
      "select action || ' ' || outcome || ' ' || target as text from audit_log",
    );
    assert.equal(entry?.text, `backup:create done ${folder}`);

    const elsewhere = { DATABASE_URL: target.databaseUrl, REDIS_URL: target.redisUrl };
    const restored = await run("backup:restore", { from: folder, skipIds: "500" }, elsewhere);
    assert.deepEqual(restored, {
      ...facts,
      not_restored: [],
      num_sessions_ended: 0,
      app_secret: "known",
      operators: ["ada"],
    });
    const [audited] = await query<{ detail: object }>(
      target.databaseUrl,
      "select detail from audit_log where action = 'backup:restore'",
    );
    assert.deepEqual(audited?.detail, {
      taken_at: facts["taken_at"],
      release: "0.1.0",
      skip_ids: 500,
      ends_sessions: false,
    });
  });

  it("refuse a database with migrations of another release", async () => {
    const newer = "insert into mikro_orm_migrations (name) values ('Migration20991231_future')";
    await query(stores.databaseUrl, newer);
    try {
      await refused("backup:create", { to: folders.folder() }, "backup:other_release");
    } finally {
      await query(
        stores.databaseUrl,
        "delete from mikro_orm_migrations where name ~ 'Migration2099'",
      );
    }
  });

  for (const skipIds of ["0", "-1", "1.5", "many", "1000000001"])
    it(`refuse ${skipIds} ids to skip`, () =>
      refused("backup:restore", { from: folders.folder(), skipIds }, "backup:invalid_ids"));
});
