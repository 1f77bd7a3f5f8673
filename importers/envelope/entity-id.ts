import { snakeCase } from "../../server/platform/text/snake-case.ts";

/** An id that the archive accepts: `id.<type>.<name>`, at most 255 characters (COD-16, IMP-02). */
const idPattern = /^(?=.{1,255}$)id\.([a-z][a-z0-9_]*)\.[A-Za-z0-9_.-]+$/;

/** The type in an id; null for a malformed id. */
export function typeOfId(id: string): string | null {
  return idPattern.exec(id)?.[1] ?? null;
}

/**
 * The id of an entity that names none: upstream key `DesignDataItem:Id_Item_FrostAmulet_6001` of type `item`
 * is `id.item.frost_amulet_6001` (IMP-02).
 */
export function idOfUpstreamKey(upstreamKey: string, type: string): string {
  const bare = upstreamKey.slice(upstreamKey.lastIndexOf(":") + 1).replace(/^Id_/, "");
  const name = snakeCase(bare);
  return `id.${type}.${name.startsWith(`${type}_`) ? name.slice(type.length + 1) : name}`;
}
