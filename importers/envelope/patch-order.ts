import { ImportRefused, type EnvelopeHeader, type ImportProblem } from "./contract.ts";
import { findHeaderProblems } from "./header.ts";
import { compareVersions, readVersion } from "./patch-version.ts";

interface Patch {
  /** Name of the source, for messages. */
  name: string;
  header: EnvelopeHeader;
  problems?: readonly ImportProblem[];
}

/**
 * The patches in import order (IMP-04): `main` first, a branch after its parent, oldest patch first. Refuses all
 * patches if one has no version: a patch that is imported too early blocks the older ones for good.
 */
export function inOrder<T extends Patch>(patches: readonly T[]): T[] {
  const problems: ImportProblem[] = [];
  const placed: { patch: T; version: string }[] = [];
  for (const patch of patches) {
    const { version, problems: found } = versionOf(patch.header);
    placed.push({ patch, version });
    for (const problem of found) problems.push({ entity: patch.name, ...problem });
    for (const problem of patch.problems ?? []) problems.push(problem);
  }
  if (problems.length > 0) throw new ImportRefused(problems);
  const branches = branchesInOrder(patches);
  const placeOf = ({ patch }: (typeof placed)[number]) => branches.indexOf(slugOf(patch));
  return placed
    .sort((a, b) => placeOf(a) - placeOf(b) || compareVersions(a.version, b.version))
    .map(({ patch }) => patch);
}

function versionOf(header: EnvelopeHeader) {
  const problems = findHeaderProblems(header);
  if (problems.length > 0) return { version: "", problems };
  const read = readVersion(header.patch);
  if ("version" in read) return { version: read.version, problems };
  return { version: "", problems: [{ place: `patch.${read.place}`, problem: read.problem }] };
}

const slugOf = ({ header }: Patch) => header.branch.slug;

function branchesInOrder(patches: readonly Patch[]): string[] {
  const slugs = [...new Set(patches.map(slugOf))].sort();
  const parents = new Map<string, string>();
  // Only the first patch of a branch must name the parent.
  for (const { header } of patches)
    if (header.branch.parent !== undefined) parents.set(header.branch.slug, header.branch.parent);
  const depthOf = (slug: string): number => {
    if (slug === "main") return 0;
    let depth = 1;
    let at = parents.get(slug);
    for (; at !== undefined && depth <= slugs.length; at = parents.get(at)) depth++;
    return depth;
  };
  return slugs.sort((a, b) => depthOf(a) - depthOf(b));
}
