import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { pageOf } from "../../../server/http/pipeline/pagination.ts";

describe("cursor pagination", () => {
  const rows = [9, 8, 7, 6, 5, 4].map((id) => ({ id }));
  /** A query for rows after the cursor, newest first. */
  const select = (limit: number, cursor: number | null) =>
    rows.filter(({ id }) => cursor === null || id < cursor).slice(0, limit);

  for (const limit of [1, 3, 4, 6, 100])
    it(`returns each row once and no empty last page, ${limit} at a time`, () => {
      const seen: number[] = [];
      let numPages = 0;
      let cursor: number | null = null;
      do {
        const { page, next }: { page: { id: number }[]; next: number | null } = pageOf(
          select(limit + 1, cursor),
          limit,
        );
        assert.ok(page.length >= 1 && page.length <= limit);
        seen.push(...page.map(({ id }) => id));
        numPages += 1;
        cursor = next;
      } while (cursor !== null);
      assert.deepEqual(
        seen,
        rows.map(({ id }) => id),
      );
      assert.equal(numPages, Math.ceil(rows.length / limit));
    });

  it("has no next page when it is empty", () => {
    assert.deepEqual(pageOf([], 10), { page: [], next: null });
  });
});
