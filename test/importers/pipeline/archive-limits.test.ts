import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sql } from "kysely";
import { upstreamIdsPerPage } from "../../../db/queries/archive/codex-read.ts";
import { rowsOf } from "../../../db/queries/rows.ts";
import { ImportRefused } from "../../../importers/envelope/contract.ts";
import {
  maxBranches,
  maxGames,
  maxPatches,
} from "../../../importers/pipeline/check/archive-limits.ts";
import { readKnownIds } from "../../../importers/pipeline/known-ids.ts";
import { entity } from "../../support/archive.ts";
import { archive, fresh, game, run, same, startsArchive, torch } from "./import-runs.ts";

const query = (text: ReturnType<typeof sql>) => rowsOf(archive.orm.em.fork(), text);
const mainOf = () => sql`(select b.id from codex_branches b join codex_games g on g.id = b.game_id
  where g.slug = ${game} and b.slug = 'main')`;
const beta = { slug: "beta", parent: "main", fork_version: "1.0" };

describe("the limits of an archive", () => {
  startsArchive();

  it("refuse a patch beyond those of its game, on any branch", async () => {
    fresh();
    await run("1.0", [torch(1)]);
    await query(sql`insert into codex_patches
      (branch_id, ord, version, version_raw, imported_at, num_added, num_changed, num_removed)
      select ${mainOf()}, n, '1.' || n || '.0+build.0', '1.' || n, now(), 0, 0, 0
      from generate_series(2, ${maxPatches - 1}) n`);
    await run("2.0", [torch(2)]);
    const before = await archive.traces();
    const refusal = `patch: is one more than ${maxPatches} of the game`;
    await refused(run("3.0", [torch(3)]), refusal);
    await refused(run("3.0", [torch(3)], {}, { isDryRun: true }), refusal);
    await refused(run("3.0", [torch(3)], { branch: { ...beta, fork_version: "2.0" } }), refusal);
    same(await archive.traces(), before);
    // The newest patch may still be replaced.
    same((await run("2.0", [torch(4)])).changed, 1);
  });

  it("refuse a branch beyond those of its game", async () => {
    fresh();
    await run("1.0", [torch(1)]);
    await query(sql`insert into codex_branches (game_id, slug, parent_id, fork_patch_id)
      select b.game_id, 'b' || n, b.id, p.id
      from codex_branches b join codex_patches p on p.branch_id = b.id,
        generate_series(2, ${maxBranches - 1}) n where b.id = ${mainOf()}`);
    await run("1.1", [torch(2)], { branch: { ...beta, slug: "last" } });
    const refusal = `branch: is one more than ${maxBranches} of the game`;
    await refused(run("1.1", [torch(2)], { branch: beta }), refusal);
    same((await run("1.2", [torch(3)], { branch: { slug: "last" } })).changed, 1);
  });

  it("refuse a game beyond those of the archive", async () => {
    const known = fresh();
    await run("1.0", [torch(1)]);
    await query(sql`insert into codex_games (slug, display_name) select 'filler-' || n, 'Filler'
      from generate_series(1, ${maxGames} - (select count(*) from codex_games)) n`);
    await refused(
      archive.import({ game: fresh(), entities: [torch(1)] }),
      `game: is one more than ${maxGames} games`,
    );
    same((await archive.import({ game: known, version: "1.1", entities: [torch(2)] })).changed, 1);
    await query(sql`delete from codex_games where slug like 'filler-%'`);
  });
});

describe("the upstream keys of a game", () => {
  startsArchive();

  it("are read in pages, each key in lower case once, current ones before former ones", async () => {
    fresh();
    const renamed = { ...entity("id.item.old"), upstream_key: "Id_Old" };
    await run("1.0", [renamed, torch(1)]);
    await run("1.1", [
      { ...renamed, upstream_key: "Id_New" },
      { ...entity("id.item.next"), upstream_key: "ID_OLD" },
      torch(1),
    ]);
    await query(sql`insert into codex_upstream_keys (game_id, upstream_key, entity_id)
      select e.game_id, 'Key' || n, e.id from codex_entities e
        join codex_games g on g.id = e.game_id, generate_series(1, ${upstreamIdsPerPage}) n
      where g.slug = ${game} and e.key = 'id.item.torch'`);
    const ids = await readKnownIds(archive.orm.em.fork(), game);
    same(ids.size, upstreamIdsPerPage + 3);
    same(ids.get("id_old"), "id.item.next");
    same(ids.get("id_new"), "id.item.old");
    same(ids.get("id_item_torch"), "id.item.torch");
    for (let n = 1; n <= upstreamIdsPerPage; n++) same(ids.get(`key${n}`), "id.item.torch");
    await refused(
      readKnownIds(archive.orm.em.fork(), game, ids.size - 1),
      `game: ${game} has more than ${ids.size - 1} upstream keys`,
    );
    same((await readKnownIds(archive.orm.em.fork(), game, ids.size)).size, ids.size);
  });

  it("are none for a game without imports", async () => {
    same((await readKnownIds(archive.orm.em.fork(), fresh())).size, 0);
  });
});

const refused = (attempt: Promise<unknown>, problem: string) =>
  assert.rejects(attempt, (error) => {
    assert.ok(error instanceof ImportRefused);
    assert.ok(error.message.includes(problem), error.message);
    return true;
  });
