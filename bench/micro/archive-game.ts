import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeEnvelopeFile } from "../../importers/envelope/write-envelope.ts";
import { entity, envelope } from "../../test/support/archive.ts";

export const entityCount = 20_000;
export const game = "bench";
/** The last patch before the long history. */
export const lastEarlyPatch = 4;
/** Patches with higher numbers make up a long history. */
export const historyStart = 100;
/** Number of patches within which every entity changes once. */
const turn = 50;

/** Number of changes of an entity in the long history. */
const changesOf = (n: number, patch: number) =>
  Math.max(0, Math.floor((patch - historyStart - 1 - (n % turn)) / turn) + 1);

/**
 * Entities of a realistic size. Two of a hundred change with each patch: before the long history always the
 * same ones, in it each in turn.
 */
export const entitiesAt = (patch: number) =>
  Array.from({ length: entityCount }, (_, n) => {
    const early = n % turn === 0 ? Math.min(patch, lastEarlyPatch) : 0;
    const changes = changesOf(n, patch);
    return entity(`id.item.n${n}`, {
      data: {
        level: n % 60,
        rarity: ["common", "rare", "epic"][n % 3],
        power: n + early + changes,
        description: `An item of many words, number ${n}, made to be looked at`,
        stats: Array.from({ length: 12 }, (_, at) => ({
          name: `stat_${at}`,
          value: at * n + (at < 4 ? changes : 0),
        })),
      },
      tags: ["item", n % 2 === 0 ? "even" : "odd"],
    });
  });

/** The envelope file of a patch, as long as the work takes. */
export async function withPatchFile<T>(
  patch: number,
  work: (file: string) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "ember-bench-"));
  try {
    const file = join(folder, `${patch}.json`);
    await writeEnvelopeFile(
      envelope({ game, version: `1.${patch}`, entities: entitiesAt(patch) }),
      file,
    );
    return await work(file);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
