import type { Scenario } from "../floor-scenario.ts";
import { game } from "./archive-game.ts";
import { measureDepth, measureLists } from "./archive-reads.ts";
import { measureImports } from "./archive-imports.ts";
import { withArchive } from "./with-stores.ts";

export const archive: Scenario = {
  about:
    "imports against a bare COPY, first reads after a long history, reads of a million versions",
  run: ({ isQuick }) =>
    withArchive(game, async (service, orm) => {
      const distance = isQuick ? 10 : 100;
      return [
        await measureImports(service, orm, distance),
        ...(await measureLists(service, distance)),
        ...(await measureDepth(service, orm, isQuick ? 100_000 : 1_000_000)),
      ];
    }),
};
