import { createOrm } from "../../db/orm.ts";
import type { Scenario } from "../floor-scenario.ts";
import { withService } from "../service.ts";
import { measureDepth } from "./archive-depth.ts";
import { game } from "./archive-game.ts";
import { measureImports } from "./archive-imports.ts";
import { measureReads } from "./archive-reads.ts";

const env = { GAME_DATA_GAME: game, JOB_WORKERS: "0" };

export const archive: Scenario = {
  about:
    "imports against a bare COPY, first reads after a long history, reads of a million versions",
  run: ({ isQuick }) =>
    withService(
      1,
      async (service) => {
        const orm = await createOrm({ DATABASE_URL: service.databaseUrl, DATABASE_POOL: 2 });
        try {
          const distance = isQuick ? 10 : 100;
          return [
            await measureImports(service, orm, distance),
            await measureReads(service, distance),
            ...(await measureDepth(service, orm, isQuick ? 100_000 : 1_000_000)),
          ];
        } finally {
          await orm.close(true);
        }
      },
      env,
    ),
};
