import { snakeCase } from "../../server/platform/text/snake-case.ts";

/** An id the archive takes: `id.<type>.<name>`, at most 255 characters (COD-16, IMP-02). */
const idPattern = /^(?=.{1,255}$)id\.([a-z][a-z0-9_]*)\.[A-Za-z0-9_.-]+$/;

/** Type inside an id, or null when it is none. */
export function typeOfId(id: string): string | null {
  return idPattern.exec(id)?.[1] ?? null;
}

/**
 * The id of an upstream key that comes without one: `DesignDataItem:Id_Item_FrostAmulet_6001` of type `item`
 * is `id.item.frost_amulet_6001` (IMP-02).
 */
export function idOfUpstreamKey(upstreamKey: string, type: string): string {
  const bare = upstreamKey.slice(upstreamKey.lastIndexOf(":") + 1).replace(/^Id_/, "");
  const name = snakeCase(bare);
  return `id.${type}.${name.startsWith(`${type}_`) ? name.slice(type.length + 1) : name}`;
}
