import Type from "typebox";
import { maxId } from "../../platform/ids.ts";

// Cursor pagination of new lists. Lists with page numbers or `before` follow the specification.

/** Query of a list: up to `limit` rows after `cursor`, the `next` of the previous page. */
export const PageQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
  cursor: Type.Optional(Type.Integer({ minimum: 0, maximum: maxId })),
});

/** `next` of an answer: the cursor of the following page; null on the last page. */
export const NextCursor = Type.Union([Type.Integer(), Type.Null()]);

/** Splits up to `limit + 1` rows into a page and its `next`; the extra row shows that another page follows. */
export function pageOf<T extends { id: unknown }>(
  rows: readonly T[],
  limit: number,
): { page: T[]; next: T["id"] | null } {
  const page = rows.slice(0, limit);
  return { page, next: rows.length > limit ? (page.at(-1)?.id ?? null) : null };
}
