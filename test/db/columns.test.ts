import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { readColumn, type Column } from "../../db/queries/codex-columns.ts";
import { startApp, type App } from "../support/app.ts";
import { entity, load } from "../support/archive.ts";

describe("a column of the archive", () => {
  let app: App;
  const levels = [3, "a\nb", 3, undefined, 1, null, [1]];
  const input = (patch: number) => ({
    game: "columns",
    version: `1.${patch}`,
    entities: levels.map((level, n) => entity(`id.item.n${n}`, { data: { level, patch } })),
  });

  before(async () => {
    app = await startApp({ hasJobs: false });
    await load(app, input(0));
  });
  after(() => app.stop());

  async function place() {
    const game = (await app.deps.archive.reload()).get("columns");
    const branch = game?.branches.get("main");
    if (game === undefined || branch === undefined) throw new Error("no such game");
    return { gameId: game.id, branchId: branch.id, type: "item" };
  }
  const level = { field: "data", path: ["level"] } as const;
  const values = ({ codes, values: all }: Column) => [...codes].map((code) => all[code]);

  it("is the same in however many parts it is read", async () => {
    const type = await place();
    for (const size of [1, 2, 3, 7, 20]) {
      const generations: number[] = [];
      const check = (generation: number) => void generations.push(generation);
      const column = await readColumn(app.deps.em.fork(), type, level, check, size);
      const expected = ["3", '"a\\nb"', "3", "null", "1", "null", "null"];
      assert.deepEqual(values(column), expected);
      assert.deepEqual(column.ids, column.ids.toSorted());
      assert.equal(new Set(column.ids).size, levels.length);
      assert.equal(new Set(column.values).size, column.values.length);
      assert.equal(generations.length, Math.floor(levels.length / size) + 1);
    }
  });

  it("tells of an import between two of its parts", async () => {
    const type = await place();
    const em = app.deps.em.fork();
    const seen = new Set<number>();
    const imports: Promise<unknown>[] = [];
    const moved = new Error("moved");
    const check = (generation: number) => {
      seen.add(generation);
      if (seen.size > 1) throw moved;
      if (imports.length === 0) imports.push(load(app, input(1)));
    };
    const read = async () => {
      for (;;) await readColumn(em, type, level, check, 1);
    };
    await assert.rejects(read, moved);
    await Promise.all(imports);
  });

  it("holds nothing of a type or game that is not there", async () => {
    const type = await place();
    const read = async (of: Partial<typeof type>) => {
      const generations: number[] = [];
      const { ids } = await readColumn(app.deps.em.fork(), { ...type, ...of }, level, (one) =>
        generations.push(one),
      );
      return [ids.length, generations.length, generations[0] === -1];
    };
    assert.deepEqual(await read({ type: "none" }), [0, 1, false]);
    assert.deepEqual(await read({ gameId: -5 }), [0, 1, true]);
  });
});
