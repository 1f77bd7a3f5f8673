import { diffFields, type FieldChange } from "./field-diff.ts";

type JsonObject = Record<string, unknown>;

interface WireMembers {
  name: string;
  tags: string[];
  icon: { hash: string } | null;
  data: JsonObject;
  links: unknown[];
  assets: { role: string; hash: string }[];
}

const parse = (body: string) => JSON.parse(`{${body}}`) as WireMembers;

/** Parts of an entity that a comparison covers (COD-08). */
function comparedParts({ name, tags, icon, data, links, assets }: WireMembers): JsonObject {
  return {
    name,
    tags,
    icon: icon === null ? null : { hash: icon.hash },
    data,
    links,
    assets: assets.map(({ role, hash }) => ({ role, hash })),
  };
}

/** Change of an entity between two states; null where it does not exist. */
export type Outcome =
  | { op: "added"; name: string; after: JsonObject }
  | { op: "removed"; name: string; before: JsonObject }
  | { op: "changed"; name: string; changes: FieldChange[] };

export function compareBodies(before: string | null, after: string | null): Outcome {
  const [old, now] = [before, after].map((body) => (body === null ? null : parse(body)));
  if (old && now) {
    const changes = diffFields(comparedParts(old), comparedParts(now));
    return { op: "changed", name: now.name, changes };
  }
  if (now) return { op: "added", name: now.name, after: now.data };
  if (old) return { op: "removed", name: old.name, before: old.data };
  throw new Error("an entity that never existed cannot differ");
}
