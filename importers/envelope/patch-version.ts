import type { EnvelopeHeader } from "./contract.ts";

/** Numbers of a canonical version; a missing `m` is -1 and sorts first. */
type VersionParts = readonly [major: number, minor: number, patch: number, n: number, m: number];

/** A suffix with letters has no defined order: 1.2.3-rc.1 comes before 1.2.3, 1.2.3-hotfix1 after it. */
const rawPattern = /^\d+(?:\.\d+){0,4}(?:-[\d.]+)?$/;
const canonicalPattern =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)\+build\.(0|[1-9]\d*)(?:\.(0|[1-9]\d*))?$/;
/** Longer numbers would lose digits. */
const maxDigits = 15;

/**
 * The canonical form of a raw version by the rule of COD-14; null if the rule yields none, so the envelope must
 * name it.
 */
export function canonicalOf(raw: string): string | null {
  if (!rawPattern.test(raw)) return null;
  const [numbers = "", suffix] = raw.split("-", 2);
  const parts = numbers.split(".");
  const digits = suffix?.replaceAll(/\D/g, "") ?? "";
  const hasFifth = parts[4] !== undefined;
  if (suffix !== undefined && digits === "") return null;
  if (hasFifth && digits !== "") return null;
  const last = hasFifth ? parts[4] : digits === "" ? undefined : digits;
  const all = [parts[0], parts[1], parts[2], parts[3]].map((part) => part ?? "0");
  if ([...all, last ?? ""].some((part) => part.length > maxDigits)) return null;
  const [major, minor, patch, n] = all.map(Number);
  const build = last === undefined ? `${n}` : `${n}.${Number(last)}`;
  return `${major}.${minor}.${patch}+build.${build}`;
}

export function isCanonical(version: string): boolean {
  return partsOf(version) !== null;
}

type VersionRead = { version: string } | { place: "version_raw" | "canonical"; problem: string };

/** The canonical version of a patch, or the header member that prevents one. */
export function readVersion(patch: EnvelopeHeader["patch"]): VersionRead {
  const { version_raw: raw, canonical } = patch;
  const version = canonical ?? canonicalOf(raw);
  const form = "<major>.<minor>.<patch>+build.<n>[.<m>]";
  if (version === null) {
    const problem = `${raw} has no canonical form of its own; give patch.canonical as ${form}`;
    return { place: "version_raw", problem };
  }
  if (isCanonical(version)) return { version };
  return { place: "canonical", problem: `${version} is not ${form}` };
}

/** Negative when `a` comes before `b`; both are canonical. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [partsOf(a), partsOf(b)];
  if (left === null || right === null) throw new Error("not a canonical version");
  const at = left.findIndex((part, index) => part !== right[index]);
  return at < 0 ? 0 : (left[at] ?? 0) - (right[at] ?? 0);
}

function partsOf(version: string): VersionParts | null {
  const match = canonicalPattern.exec(version);
  if (match === null || match.slice(1).some((part) => (part ?? "").length > maxDigits)) return null;
  const [major = 0, minor = 0, patch = 0, n = 0, m = -1] = match
    .slice(1)
    .map((part) => (part === undefined ? undefined : Number(part)));
  return [major, minor, patch, n, m];
}
