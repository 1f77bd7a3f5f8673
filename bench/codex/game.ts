import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { MikroORM } from "@mikro-orm/postgresql";
import { writeEnvelopeFile } from "../../importers/envelope/write-envelope.ts";
import { entity, envelope } from "../../test/support/archive.ts";

export const entityCount = 20_000;
export const game = "bench";
/** The last patch before the long history. */
export const lastEarlyPatch = 6;
/** Patches with higher numbers make up a long history. */
export const historyStart = 100;
/** Number of patches within which every entity changes once. */
const turn = 50;

export type ImportTimer = (orm: MikroORM, file: string) => Promise<number>;

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

export interface PatchFiles {
  folder: string;
  file(patch: number): string;
  remove(): void;
}

/** Writes the envelope files of these patches. */
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
