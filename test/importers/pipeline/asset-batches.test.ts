import { describe, it } from "node:test";
import { sql } from "kysely";
import { rowsOf } from "../../../db/queries/rows.ts";
import { maxBatchBytes, maxBatchFiles } from "../../../importers/pipeline/check/asset-index.ts";
import { archive, fresh, same, startsArchive, torch } from "./import-runs.ts";

describe("the new files of an import", () => {
  startsArchive();

  it("are stored in batches of at most 64 files and 8 MiB, one statement each", async () => {
    fresh();
    const em = () => archive.orm.em.fork();
    await rowsOf(em(), sql`create table asset_inserts (files int, bytes int)`);
    await rowsOf(
      em(),
      sql`create function note_assets() returns trigger language plpgsql as $$ begin
        insert into asset_inserts select count(*), sum(bytes) from added; return null; end $$`,
    );
    await rowsOf(
      em(),
      sql`create trigger note_assets after insert on codex_assets
        referencing new table as added for each statement execute function note_assets()`,
    );
    const small = Array.from({ length: maxBatchFiles + 1 }, (_, n) => Buffer.from(`small ${n}`));
    const large = [1, 2, 3].map((n) => Buffer.alloc(maxBatchBytes / 2, n));
    const alone = Buffer.alloc(maxBatchBytes + 1, 4);
    const store = async (contents: readonly Buffer[]) => {
      const files = Object.fromEntries(contents.map((content, n) => [`${n}.png`, content]));
      const assets = Object.keys(files).map((path) => ({ path, media_type: "image/png" }));
      await archive.import({ game: fresh(), entities: [torch(1)], files, assets });
      return rowsOf(
        em(),
        sql<{ files: number; bytes: number }>`with taken as (delete from asset_inserts returning *)
          select files, bytes from taken order by files desc, bytes`,
      );
    };
    try {
      same(
        (await store(small)).map(({ files }) => files),
        [maxBatchFiles, 1],
      );
      same(await store(large), [
        { files: 2, bytes: maxBatchBytes },
        { files: 1, bytes: maxBatchBytes / 2 },
      ]);
      same(await store([alone]), [{ files: 1, bytes: alone.byteLength }]);
    } finally {
      await rowsOf(em(), sql`drop trigger note_assets on codex_assets`);
    }
  });
});
