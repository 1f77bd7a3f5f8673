import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { resources } from "../../../../db/projections/resources/index.ts";

interface Shown {
  path: string;
  type: string;
  columns: string[];
  filters: { kind: string; name: string }[];
}

const file = new URL("../../../../server/web/reader/data-resources.js", import.meta.url);

describe("the lists of the data pages", () => {
  it("are those of the projection, with its columns and every one of its filters", async () => {
    const { groups } = (await import(file.href)) as { groups: [string, Shown[]][] };
    const shown = new Map(groups.flatMap(([, some]) => some).map((one) => [one.path, one]));
    assert.deepEqual([...shown.keys()].sort(), resources.map(({ path }) => path).sort());
    for (const { path, type, columns, filters } of resources) {
      const page = shown.get(path);
      assert.equal(page?.type, type);
      const unknown = page?.columns.filter((name) => !Object.hasOwn(columns, name));
      assert.deepEqual(unknown, [], `${path} has no such columns`);
      const offered = page?.filters.flatMap(({ kind, name }) =>
        kind === "range" ? [`${name}_min`, `${name}_max`] : [name],
      );
      assert.deepEqual(offered?.sort(), filters.map(({ parameter }) => parameter).sort(), path);
    }
  });
});
