import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { resources } from "../../../../db/projections/resources/index.ts";
import { groups } from "../../../../server/web/reader/data-resources.ts";

describe("the resource lists of the data pages", () => {
  it("match the projection, with its columns and all of its filters", () => {
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
