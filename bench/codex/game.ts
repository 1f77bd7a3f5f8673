import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeEnvelopeFile } from "../../importers/write-envelope.ts";
import { entity, envelope } from "../../test/support/archive.ts";

export const entityCount = 20_000;
export const game = "bench";
/** The patch in which nearly everything changes. */
export const upheaval = 90;

/** Entities of about the size real games have; two of a hundred change with each patch. */
export const entitiesAt = (patch: number) =>
  Array.from({ length: entityCount }, (_, n) => {
    const isMoved = patch === upheaval && n % 8 !== 0;
    return entity(`id.item.n${n}`, {
      data: {
        level: n % 60,
        rarity: ["common", "rare", "epic"][n % 3],
        power: n % 50 === 0 ? n + patch : n,
        description: `An item of many words, number ${n}, made to be looked at`,
        stats: Array.from({ length: 12 }, (_, at) => ({
          name: `stat_${at}`,
          value: at * n + (isMoved && at < 4 ? 1 : 0),
        })),
      },
      tags: ["item", n % 2 === 0 ? "even" : "odd"],
    });
  });

export interface PatchFiles {
  folder: string;
  file(patch: number): string;
  remove(): void;
}

/** Envelope files of some patches. */
export async function writePatches(patches: readonly number[]): Promise<PatchFiles> {
  const folder = mkdtempSync(join(tmpdir(), "ember-bench-"));
  const file = (patch: number) => join(folder, `${patch}.json`);
  for (const patch of patches)
    await writeEnvelopeFile(
      envelope({ game, version: `1.${patch}`, entities: entitiesAt(patch) }),
      file(patch),
    );
  return { folder, file, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
