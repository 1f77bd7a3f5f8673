import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { ImportEnvelope } from "../contract.ts";
import { openEnvelopeFile } from "../envelope-file.ts";
import { canonicalOf, compareVersions } from "../patch-version.ts";

const envelopeName = /\.json(?:\.gz)?$/;

/**
 * The envelope files of a folder as an adapter would give them: `main` first, then other branches, each from
 * its oldest patch.
 */
export async function* readEnvelopes(folder: string): AsyncGenerator<ImportEnvelope> {
  const names = (await readdir(folder)).filter((name) => envelopeName.test(name)).sort();
  const envelopes: ImportEnvelope[] = [];
  for (const name of names) envelopes.push(await openEnvelopeFile(join(folder, name)));
  yield* envelopes.sort(
    (a, b) => Number(branchOf(b) === "main") - Number(branchOf(a) === "main") || byPatch(a, b),
  );
}

// What the header says is checked by the importer, so nothing is taken for granted here.
const branchOf = ({ header }: ImportEnvelope) => header.branch?.slug;

function versionOf({ header }: ImportEnvelope): string | null {
  return header.patch?.canonical ?? canonicalOf(header.patch?.version_raw ?? "");
}

function byPatch(a: ImportEnvelope, b: ImportEnvelope): number {
  const [left, right] = [versionOf(a), versionOf(b)];
  if (left === null || right === null) return 0;
  try {
    return compareVersions(left, right);
  } catch {
    return 0;
  }
}
