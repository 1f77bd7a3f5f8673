import assert from "node:assert/strict";
import {
  cpSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { gunzipSync } from "node:zlib";
import { createHash } from "node:crypto";
import { advisoryLocks } from "../../../../db/advisory-locks.ts";
import { createBackup } from "../../../../server/features/backup/domain/create.ts";
import { checkBackup } from "../../../../server/features/backup/domain/check.ts";
import type { Manifest } from "../../../../server/features/backup/domain/manifest.ts";
import {
  createFolderStore,
  newPictureName,
} from "../../../../server/features/avatars/domain/picture-store.ts";
import { parseConfig } from "../../../../server/platform/config/config.ts";
import { silentLogger } from "../../../../server/platform/log/logger.ts";
import { connectRedis, redisReady } from "../../../../server/platform/redis/redis.ts";
import { withClient } from "../../../../server/runtime/stores/postgres.ts";
import { testDatabase } from "../../../support/stores.ts";
import {
  backUp,
  codeOf,
  digestRows,
  emptyTarget,
  restore,
  temporaryFolders,
  type Target,
} from "./targets.ts";

/** Characters that COPY escapes, and those that a file could mangle. */
const nasty = "tab\t line\n back\\slash \\N \r\n ' \" ü 😀 \u0001";
const picture = newPictureName();
const folders = temporaryFolders();
const config = parseConfig({ DATA_DIR: folders.folder() });
const original = folders.folder();
let source: { url: string; drop(): Promise<void> };
/** A copy of the backup, to be harmed. */
let folder: string;
let manifest: Manifest;
/** Left empty by what is refused. */
let target: Target;

describe("a backup", () => {
  before(async () => {
    source = await testDatabase();
    await withClient(source.url, async (client) => {
      await client.query(
        `insert into players (name, name_key, is_guest, realm, channels)
         select $1 || i, 'k' || i, true, 'default', array['mail:"x"', null] from generate_series(1, 3000) i`,
        [nasty],
      );
      await client.query(
        `insert into avatar_uploads (player_id, status, file, hash, scores, selection_v, created_at)
         values (1, 'approved', $1, ~ 0::bit(64), '{"a": 0.5}', 0, now()),
           (2, 'queued', '${newPictureName()}', null, null, 0, 'infinity')`,
        [picture],
      );
    });
    await createFolderStore(config).write(picture, Buffer.from("a picture"));
    manifest = await backUp(source.url, original, config);
    target = await emptyTarget(source.url);
  });
  beforeEach(() => {
    folder = folders.folder();
    cpSync(original, folder, { recursive: true });
  });
  after(async () => {
    await target.stop();
    await source.drop();
    folders.clean();
  });

  describe("that is damaged is refused", () => {
    const players = "tables/players.copy.gz";
    const pictureFile = join("pictures", picture.slice(0, 2), picture);
    const at = (file: string) => join(folder, file);
    const flip = (file: string, offset: number) => {
      const bytes = readFileSync(at(file));
      bytes.writeUInt8(bytes.readUInt8(offset) ^ 1, offset);
      writeFileSync(at(file), bytes);
    };
    const cases: { what: string; damage: () => void }[] = [
      { what: "a changed byte of a table", damage: () => flip(players, 40) },
      { what: "a changed time in the header of a file", damage: () => flip(players, 5) },
      { what: "a truncated table", damage: () => truncateSync(at(players), 100) },
      { what: "a table that is missing", damage: () => rmSync(at(players)) },
      {
        what: "another table under its name",
        damage: () => writeFileSync(at(players), readFileSync(at("tables/realms.copy.gz"))),
      },
      { what: "a changed byte of a picture", damage: () => flip(pictureFile, 3) },
      { what: "a picture that is missing", damage: () => rmSync(at(pictureFile)) },
      { what: "a changed list of pictures", damage: () => flip("pictures.tsv.gz", 12) },
      { what: "a truncated manifest", damage: () => truncateSync(at("manifest.json"), 200) },
      {
        what: "a changed manifest",
        damage: () => {
          const text = readFileSync(at("manifest.json"), "utf8");
          writeFileSync(at("manifest.json"), text.replace(`"rows": 3000`, `"rows": 3001`));
        },
      },
    ];
    for (const { what, damage } of cases)
      it(`by ${what}`, async () => {
        damage();
        assert.equal(await codeOf(checkBackup(folder)), "backup:damaged");
        assert.equal(await codeOf(restore(target, folder)), "backup:damaged");
        assert.deepEqual(await digestRows(target.databaseUrl), {});
      });
  });
  describe("is refused", () => {
    renewsTarget();
    const onTarget = (text: string) =>
      withClient(target.databaseUrl, (client) => client.query(text));
    const cases: { what: string; code: string; make: () => Promise<unknown> }[] = [
      {
        what: "a database with a table",
        code: "backup:database_not_empty",
        make: () => onTarget("create table strangers (text text)"),
      },
      {
        what: "a Redis with a key",
        code: "backup:redis_not_empty",
        make: async () => {
          const redis = connectRedis(target.redisUrl, silentLogger, "test");
          await redisReady(redis);
          await redis.set("a", "1");
          redis.disconnect();
        },
      },
      {
        what: "a folder without a backup",
        code: "backup:not_found",
        make: async () => void (folder = folders.folder()),
      },
      {
        what: "a folder that does not exist",
        code: "backup:not_found",
        make: async () => void (folder = join(folder, "nowhere")),
      },
      {
        what: "a backup that was not finished",
        code: "backup:not_found",
        make: async () => rmSync(join(folder, "manifest.json")),
      },
      {
        what: "a manifest of another program",
        code: "backup:damaged",
        make: async () => writeFileSync(join(folder, "manifest.json"), `{"layers": []}`),
      },
      {
        what: "a backup of a newer release",
        code: "backup:newer_release",
        make: async () =>
          rewrite({
            ...manifest,
            migrations: [...manifest.migrations, "Migration20991231_future"],
          }),
      },
      {
        what: "a backup in a newer form",
        code: "backup:newer_release",
        make: async () => rewrite({ ...manifest, form: 2 }),
      },
      {
        what: "a backup without one of the tables",
        code: "backup:other_schema",
        make: async () => rewrite({ ...manifest, tables: manifest.tables.slice(1) }),
      },
    ];
    for (const { what, code, make } of cases)
      it(`for ${what}: ${code}`, async () => {
        await make();
        assert.equal(await codeOf(restore(target, folder)), code);
      });

    it("while another restore or a migration runs: backup:busy", () =>
      withClient(target.databaseUrl, async (client) => {
        await client.query("select pg_advisory_lock($1)", [advisoryLocks.migrations]);
        assert.equal(await codeOf(restore(target, folder)), "backup:busy");
      }));

    it("for a folder with files: backup:folder_not_empty", async () => {
      assert.equal(await codeOf(backUp(source.url, folder)), "backup:folder_not_empty");
      assert.equal(await codeOf(checkBackup(folder)), null);
    });
  });
  describe("is complete", () => {
    renewsTarget();

    it("restores every row, and pictures that still exist", async () => {
      await restore(target, folder);
      const { restores, audit_log: audit, ...restored } = await digestRows(target.databaseUrl);
      const { restores: _none, audit_log: _empty, ...given } = await digestRows(source.url);
      assert.deepEqual(restored, given);
      assert.deepEqual([restores?.[0], audit?.[0]], ["1", "1"]);
      const { pictures } = manifest;
      assert.ok("count" in pictures);
      assert.deepEqual([pictures.count, pictures.missing], [1, 1]);
      assert.equal(String(await createFolderStore(target.config).read(picture)), "a picture");
    });

    it("is readable by its owner only, and by usual tools", async () => {
      const files = readdirSync(original, { recursive: true, withFileTypes: true });
      const modes = files.map((entry) => {
        const mode = statSync(join(entry.parentPath, entry.name)).mode & 0o777;
        return `${entry.isDirectory() ? "folder" : "file"} ${mode.toString(8)}`;
      });
      assert.deepEqual(new Set(modes), new Set(["folder 700", "file 600"]));
      const bytes = readFileSync(join(folder, "tables/players.copy.gz"));
      const table = manifest.tables.find(({ name }) => name === "players");
      assert.equal(createHash("sha256").update(bytes).digest("hex"), table?.sha256);
      assert.equal(gunzipSync(bytes).toString().split("\n").length, 3_001);
    });

    it("has tables of others, which the restore leaves out and names", async () => {
      const own = folders.folder();
      const withTable = (text: string) => withClient(source.url, (client) => client.query(text));
      await withTable("create table strangers (id serial, text text)");
      try {
        await backUp(source.url, own, config);
      } finally {
        await withTable("drop table strangers");
      }
      assert.deepEqual((await restore(target, own)).notRestored, ["strangers"]);
    });

    it("is checked without a store", async () => {
      assert.deepEqual(await checkBackup(folder), manifest);
    });

    it("leaves the folder empty when it fails", async () => {
      const own = folders.folder();
      const signal = AbortSignal.abort(new Error("stop"));
      await assert.rejects(createBackup({ config, databaseUrl: source.url, folder: own, signal }));
      assert.deepEqual(readdirSync(own), []);
    });
  });
});

/** The tests of the suite may change it. */
function renewsTarget(): void {
  afterEach(async () => {
    await target.stop();
    target = await emptyTarget(source.url);
  });
}

function rewrite(backup: object): void {
  const sha256 = createHash("sha256").update(JSON.stringify(backup)).digest("hex");
  writeFileSync(join(folder, "manifest.json"), JSON.stringify({ sha256, backup }));
}
