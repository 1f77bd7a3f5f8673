import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { migrate } from "../../../../db/migrate.ts";
import { createOrm } from "../../../../db/orm.ts";
import { parseConfig } from "../../../../server/platform/config/config.ts";
import { withClient } from "../../../../server/runtime/stores/postgres.ts";
import { restoreDatabase } from "../../../upgrade/dump.ts";
import { readStored } from "../../../upgrade/stored.ts";
import { testDatabase } from "../../../support/stores.ts";
import { fillTables } from "./fill-tables.ts";
import { backUp, digestRows, emptyTarget, restore, temporaryFolders } from "./targets.ts";

const { dump } = readStored();
const folders = temporaryFolders();

/** What a restore changes in rows that it finds. */
const settled = {
  sign_in_codes: ["expires_at"],
  phone_codes: ["is_spent"],
  token_families: ["revoked_at"],
};

async function migrateUp(url: string): Promise<void> {
  const orm = await createOrm({ DATABASE_URL: url, DATABASE_POOL: 2 });
  try {
    await migrate(orm);
  } finally {
    await orm.close(true);
  }
}

describe("a backup of play data in every table", () => {
  let beside: Awaited<ReturnType<typeof testDatabase>>;
  before(async () => {
    beside = await testDatabase();
  });
  after(async () => {
    await beside.drop();
    folders.clean();
  });

  /** Tables whose rows differ after a restore, and those without rows at the backup. */
  async function restored(url: string, folder: string) {
    const target = await emptyTarget(url);
    try {
      const { manifest } = await restore(target, folder);
      const [given, found] = [
        await digestRows(url, settled),
        await digestRows(target.databaseUrl, settled),
      ];
      return {
        manifest,
        differing: Object.keys(found).filter((name) => found[name] !== given[name]),
        empty: manifest.tables.filter(({ rows }) => rows === 0).map(({ name }) => name),
      };
    } finally {
      await target.stop();
    }
  }

  it("has each row after its restore, and each picture", async () => {
    const source = await emptyTarget(beside.url);
    try {
      const url = source.databaseUrl;
      await restoreDatabase(url, dump);
      await migrateUp(url);
      await withClient(url, fillTables);
      const dataDir = folders.folder();
      for (const [file, content] of Object.entries(dump.files)) {
        mkdirSync(dirname(join(dataDir, file)), { recursive: true });
        writeFileSync(join(dataDir, file), Buffer.from(content, "base64"));
      }
      const folder = folders.folder();
      await backUp(url, folder, parseConfig({ DATA_DIR: dataDir }));
      const { manifest, differing, empty } = await restored(url, folder);
      assert.deepEqual(empty, []);
      // Each records the restore, or is voided by it.
      assert.deepEqual(differing, [
        "audit_log",
        "credential_requests",
        "password_resets",
        "restores",
      ]);
      assert.ok("count" in manifest.pictures && manifest.pictures.count > 0);
    } finally {
      await source.stop();
    }
  });

  it("of an earlier release is migrated to this one", async () => {
    const source = await emptyTarget(beside.url);
    try {
      const url = source.databaseUrl;
      await restoreDatabase(url, dump);
      const folder = folders.folder();
      const { migrations } = await backUp(url, folder);
      assert.equal(migrations.at(-1), dump.migration);
      await migrateUp(url);
      const { differing } = await restored(url, folder);
      const own = ["audit_log", "credential_requests", "mikro_orm_migrations", "restores"];
      assert.deepEqual(differing, own);
    } finally {
      await source.stop();
    }
  });

  it("is of one moment, beside running transactions", async () => {
    const source = await testDatabase();
    const target = await emptyTarget(source.url);
    const folder = folders.folder();
    let isWriting = true;
    let numTransactions = 0;
    // Each pays in one table and records it in another, so any mix of two moments shows.
    const pay = (player: number) =>
      withClient(source.url, async (client) => {
        for (let seq = 1; isWriting; seq++) {
          await client.query(
            `with paid as (insert into wallets (player_id, currency, balance, total, entries) values ($1, 'embers', 1, 1, 1)
               on conflict (player_id, currency) do update set balance = wallets.balance + 1,
                 total = wallets.total + 1, entries = wallets.entries + 1)
             insert into ledger_entries (player_id, currency, seq, amount, source, balance, total, created_at)
             values ($1, 'embers', $2::int, 1, 'award', $2::int, $2::int, now())`,
            [player, seq],
          );
          numTransactions += 1;
        }
      });
    const writers = [1, 2, 3].map(pay);
    try {
      for (let n = 0; n < 5; n++) {
        const before = numTransactions;
        const one = n === 0 ? folder : folders.folder();
        await backUp(source.url, one);
        assert.ok(numTransactions > before);
      }
      isWriting = false;
      await Promise.all(writers);
      await restore(target, folder);
      const { rows } = await withClient(target.databaseUrl, (client) =>
        client.query(
          `select player_id from wallets w where balance <> (
             select count(*) from ledger_entries e where e.player_id = w.player_id)`,
        ),
      );
      assert.deepEqual(rows, []);
    } finally {
      isWriting = false;
      await Promise.allSettled(writers);
      await target.stop();
      await source.drop();
    }
  });
});
