import type { MikroORM } from "@mikro-orm/postgresql";
import { median, note } from "../report.ts";
import { historyStart, writePatches, type ImportTimer } from "./game.ts";

/** Imports patch after patch, each with 2 % changed entities; returns the median time in ms. */
export async function writeHistory(
  orm: MikroORM,
  distance: number,
  timeImport: ImportTimer,
): Promise<number> {
  const times: number[] = [];
  for (let patch = historyStart + 1; patch <= historyStart + distance; patch++) {
    const files = await writePatches([patch]);
    try {
      times.push(await timeImport(orm, files.file(patch)));
    } finally {
      files.remove();
    }
  }
  const middle = median(times);
  note(`${distance} further patches: ${middle.toFixed(0)} ms each`);
  return middle;
}
