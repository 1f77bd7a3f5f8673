import type { SourceEntity } from "../../envelope/contract.ts";
import { snakeFields, textOf, titleOf, without, type Fields } from "../fields.ts";
import { idOf, slugOf, type ReleaseData } from "./release.ts";

/**
 * Left out of `data`: numbers that every release assigns anew, so most entities would change in each release.
 * References use names instead.
 */
export const excluded = new Set(["id", "internalId", "name", "displayName"]);

interface Extra {
  tags?: readonly (string | null)[];
  links?: SourceEntity["links"];
  icon?: string | null;
  /** Members that replace upstream members. */
  data?: Fields;
  leaveOut?: readonly string[];
}

/** The members of entities of every kind. */
export function describe(type: string, row: Fields, data: ReleaseData, extra: Extra = {}) {
  const name = textOf(row["name"]) ?? "";
  const rest = without(row, new Set([...excluded, ...(extra.leaveOut ?? [])]));
  return {
    id: idOf(type, name),
    upstream_key: `${type}/${name}`,
    type,
    name_key: data.nameKey(type, name),
    name: textOf(row["displayName"]) ?? titleOf(slugOf(name)),
    tags: (extra.tags ?? []).filter((tag): tag is string => tag !== null),
    icon: extra.icon ?? null,
    data: snakeFields({ ...rest, ...extra.data }) as Record<string, unknown>,
    links: extra.links ?? [],
  } satisfies SourceEntity;
}
