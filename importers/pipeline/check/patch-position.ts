import {
  findPatch,
  type CodexBranch,
  type CodexGame,
  type CodexPatch,
} from "../../../db/queries/archive/codex-directory.ts";
import type { StateAt } from "../../../db/queries/archive/codex-states.ts";
import type { EnvelopeHeader } from "../../envelope/contract.ts";
import { compareVersions, readVersion } from "../../envelope/patch-version.ts";
import type { ProblemList } from "../../envelope/problem-list.ts";

/** Where a patch belongs in the archive. */
export interface PatchPosition {
  game: CodexGame | null;
  branch: CodexBranch | null;
  /** Parent and fork patch of a new branch. */
  origin: { parent: CodexBranch; fork: CodexPatch } | null;
  /** Canonical. */
  version: string;
  /** The patch of this version from an earlier import. */
  existing: CodexPatch | null;
  /** Whether the rows of the patch may be replaced (IMP-04). */
  isReplaceable: boolean;
  /** The patch before this one; null for the first. */
  previous: CodexPatch | null;
}

export const stateOf = (patch: CodexPatch | null): StateAt | null =>
  patch === null ? null : { branchId: patch.branchId, ord: patch.ord };

/** Finds the position by COD-14, COD-15 and IMP-04; null with a problem added if there is none. */
export function findPosition(
  game: CodexGame | null,
  header: EnvelopeHeader,
  problems: ProblemList,
): PatchPosition | null {
  const version = versionOf(header, problems);
  const branch = game?.branches.get(header.branch.slug) ?? null;
  const origin = branch === null ? originOf(game, header, problems) : null;
  if (branch !== null) checkOrigin(branch, header, problems);
  if (version === null || problems.count > 0) return null;
  const known = branch?.patches ?? lineageUpTo(origin);
  const { version_raw: raw } = header.patch;
  const existing = known.find((one) => one.version === version) ?? null;
  const sameRaw = known.find((one) => one.versionRaw === raw) ?? null;
  if (existing !== sameRaw) {
    const other = existing ?? sameRaw;
    problems.add(
      "patch",
      "version_raw",
      `${raw} (${version}) meets ${other?.versionRaw} (${other?.version}) of the same branch`,
    );
    return null;
  }
  const newest = known.at(-1) ?? null;
  if (existing === null) {
    if (newest !== null && compareVersions(version, newest.version) < 0) {
      problems.add("patch", "", `${version} is earlier than the newest, ${newest.version}`);
      return null;
    }
    return { game, branch, origin, version, existing, isReplaceable: true, previous: newest };
  }
  const previous = known.find((one) => one.id === existing.parentId) ?? null;
  const isNewest = existing === newest && existing.branchId === branch?.id;
  const isReplaceable = isNewest && !isForked(game, existing);
  return { game, branch, origin, version, existing, isReplaceable, previous };
}

function versionOf(header: EnvelopeHeader, problems: ProblemList): string | null {
  const read = readVersion(header.patch);
  if ("version" in read) return read.version;
  problems.add("patch", read.place, read.problem);
  return null;
}

function originOf(game: CodexGame | null, header: EnvelopeHeader, problems: ProblemList) {
  const { slug, parent: parentSlug, fork_version: forkVersion } = header.branch;
  if (slug === "main") {
    if (parentSlug !== undefined || forkVersion !== undefined)
      problems.add("branch", "", "main has no parent");
    return null;
  }
  if (parentSlug === undefined || forkVersion === undefined) {
    problems.add("branch", "", `${slug} is new and needs parent and fork_version`);
    return null;
  }
  const parent = game?.branches.get(parentSlug);
  if (parent === undefined) {
    problems.add("branch", "parent", `there is no branch ${parentSlug}`);
    return null;
  }
  const fork = findPatch(parent, forkVersion);
  if (fork === null) {
    problems.add("branch", "fork_version", `${parentSlug} has no patch ${forkVersion}`);
    return null;
  }
  return { parent, fork };
}

/** The fork of an existing branch cannot move. */
function checkOrigin(branch: CodexBranch, header: EnvelopeHeader, problems: ProblemList): void {
  const { parent, fork_version: forkVersion } = header.branch;
  if (parent !== undefined && parent !== branch.parent)
    problems.add("branch", "parent", `${branch.slug} leaves ${branch.parent ?? "no branch"}`);
  if (forkVersion !== undefined && !isVersionOf(branch.fork, forkVersion))
    problems.add(
      "branch",
      "fork_version",
      `${branch.slug} begins at ${branch.fork?.version ?? "no patch"}`,
    );
}

const isVersionOf = (patch: CodexPatch | null, version: string) =>
  patch !== null && (patch.version === version || patch.versionRaw === version);

function lineageUpTo(origin: PatchPosition["origin"]): readonly CodexPatch[] {
  if (origin === null) return [];
  const { parent, fork } = origin;
  return parent.patches.slice(0, parent.patches.indexOf(fork) + 1);
}

/** The rows of a fork patch are fixed, because other branches build on them. */
function isForked(game: CodexGame | null, patch: CodexPatch): boolean {
  return [...(game?.branches.values() ?? [])].some((branch) => branch.fork?.id === patch.id);
}
