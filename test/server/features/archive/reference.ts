import type { SourceEntity } from "../../../../importers/envelope/contract.ts";

export interface RefPatch {
  branch: string;
  version: string;
  /** Every existing entity, by id. */
  state: ReadonlyMap<string, SourceEntity>;
}

export interface RefBranch {
  slug: string;
  /** Own and inherited patches, oldest first. */
  patches: RefPatch[];
}

type Json = Record<string, unknown>;
const byCode = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/**
 * The rules of the archive on plain maps: it stores complete states only, and answers every query by
 * scanning all of them.
 */
export class ReferenceArchive {
  readonly branches = new Map<string, RefBranch>();
  /** In the order of first import, which is the order of cursors. */
  readonly order: string[] = [];

  import(slug: string, version: string, entities: readonly SourceEntity[], fork?: RefPatch[]) {
    const branch = this.branches.get(slug) ?? { slug, patches: [...(fork ?? [])] };
    this.branches.set(slug, branch);
    const before = branch.patches.at(-1)?.state ?? new Map<string, SourceEntity>();
    const state = new Map(entities.map((entity) => [entity.id ?? "", entity]));
    branch.patches.push({ branch: slug, version, state });
    const fresh = [...state.keys()].filter((id) => !this.order.includes(id));
    this.order.push(...fresh.sort((a, b) => byCode(typeOf(a), typeOf(b)) || byCode(a, b)));
    return countOps(before, state);
  }

  branch(slug: string): RefBranch {
    const branch = this.branches.get(slug);
    if (branch === undefined) throw new Error(`no branch ${slug}`);
    return branch;
  }

  head(slug: string): ReadonlyMap<string, SourceEntity> {
    return this.branch(slug).patches.at(-1)?.state ?? new Map();
  }

  /** Versions in which an entity changed on a branch, with a minus for a removal. */
  history(slug: string, id: string): string[] {
    let last: SourceEntity | undefined;
    return this.branch(slug).patches.flatMap(({ version, state }) => {
      const now = state.get(id);
      const isSame = last === undefined ? now === undefined : isEqual(last, now);
      last = now;
      return isSame ? [] : [now === undefined ? `-${version}` : version];
    });
  }

  /** Current entities of a type that match, in cursor order. */
  list(slug: string, type: string, passes: (entity: SourceEntity) => boolean): string[] {
    const head = this.head(slug);
    return this.order.filter((id) => {
      const entity = head.get(id);
      return entity !== undefined && typeOf(id) === type && passes(entity);
    });
  }
}

export const typeOf = (id: string) => id.split(".")[1] ?? "";

/** The compared parts of an entity without pictures and sounds, in order (COD-08). */
export function comparedParts({ name, tags = [], data, links = [] }: SourceEntity): Json {
  return {
    name,
    tags: [...new Set(tags)].sort(),
    data,
    links: links
      .map(({ rel, target }) => ({ rel, target }))
      .sort((a, b) => byCode(a.rel, b.rel) || byCode(a.target, b.target)),
  };
}

export const comparedText = (entity: SourceEntity): string => stable(comparedParts(entity));

const isEqual = (a: SourceEntity | undefined, b: SourceEntity | undefined) =>
  a !== undefined && b !== undefined && comparedText(a) === comparedText(b);

/** JSON text that ignores key order and null members. */
export function stable(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(stable).join()}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "";
  const entries = Object.entries(value as Json).filter(([, item]) => item != null);
  return `{${entries
    .sort(([a], [b]) => byCode(a, b))
    .map(([key, item]) => `${JSON.stringify(key)}:${stable(item)}`)
    .join()}}`;
}

export type Op = "added" | "changed" | "removed";

/** Differences between two states, by type and id. */
export function opsBetween(
  before: ReadonlyMap<string, SourceEntity>,
  after: ReadonlyMap<string, SourceEntity>,
): { id: string; op: Op }[] {
  return [...new Set([...before.keys(), ...after.keys()])]
    .sort((a, b) => byCode(typeOf(a), typeOf(b)) || byCode(a, b))
    .flatMap((id): { id: string; op: Op }[] => {
      const [old, now] = [before.get(id), after.get(id)];
      if (old === undefined) return [{ id, op: "added" }];
      if (now === undefined) return [{ id, op: "removed" }];
      return isEqual(old, now) ? [] : [{ id, op: "changed" }];
    });
}

export function countOps(
  before: ReadonlyMap<string, SourceEntity>,
  after: ReadonlyMap<string, SourceEntity>,
) {
  const counts = { added: 0, changed: 0, removed: 0 };
  for (const { op } of opsBetween(before, after)) counts[op]++;
  return counts;
}
