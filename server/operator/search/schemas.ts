import Type, { type Static } from "typebox";
import { maxSearch } from "../layout.ts";
import { orNull } from "../schemas.ts";

export const SearchInput = Type.Object({
  q: Type.String({ minLength: 1, maxLength: maxSearch, pattern: "\\S" }),
});

/** A page that has what was searched. */
export const FoundBody = Type.Object({
  what: Type.String({ description: "such as player, room or job" }),
  name: Type.String(),
  note: orNull(Type.String()),
  path: Type.String(),
});
export type FoundBody = Static<typeof FoundBody>;

export const SearchBody = Type.Object({
  found: Type.Array(FoundBody),
  not_searched: Type.Array(Type.String(), { description: "they did not respond in time" }),
});
