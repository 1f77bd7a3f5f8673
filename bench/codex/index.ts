import { spawnSync } from "node:child_process";
import { createOrm } from "../../db/orm.ts";
import { compareRead, connections } from "../cached-reads.ts";
import { measureRebuilds } from "../projection/rebuilds.ts";
import { verdict, type Table } from "../report.ts";
import { comparedTable } from "../requests.ts";
import type { Scenarios } from "../floor-scenario.ts";
import { withService } from "../service.ts";
import { measureDepth } from "./depth.ts";
import { game } from "./game.ts";
import { measureImports } from "./imports.ts";
import { measureReads } from "./reads.ts";

const base = `/v1/codex/${game}`;
const targets = { body: 0.6, known: 1 };

export const scenarios: Scenarios = {
  all: {
    about: "imports, first reads and cached reads",
    run: ({ isQuick }) =>
      withService(
        1,
        async (service) => {
          const seconds = isQuick ? 2 : 6;
          const orm = await createOrm({ DATABASE_URL: service.databaseUrl, DATABASE_POOL: 2 });
          try {
            const distance = isQuick ? 10 : 100;
            const tables = [
              await measureImports(service, orm, distance),
              await measureReads(service, distance),
            ];
            const cached = [
              ...(await compareRead(
                service,
                seconds,
                { name: "A8 entity", path: `${base}/id.item.n7` },
                targets,
              )),
              ...(await compareRead(
                service,
                seconds,
                { name: "A8 list of 50", path: `${base}/item` },
                targets,
              )),
            ];
            tables.push(
              comparedTable(
                `codex: ${connections} connections, ${seconds} s each, median of three interleaved rounds`,
                cached,
              ),
            );
            tables.push(await measureRebuilds(orm), checkDifferences());
            tables.push(...(await measureDepth(service, isQuick ? 100_000 : 1_000_000)));
            return tables;
          } finally {
            await orm.close(true);
          }
        },
        { GAME_DATA_GAME: game, JOB_WORKERS: "0" },
      ),
  },
};

/** Runs the test that applies and inverts the differences of random pairs (A10). */
function checkDifferences(): Table {
  const file = "test/server/features/archive/field-diff.deep.test.ts";
  const started = performance.now();
  const { status } = spawnSync(process.execPath, ["--import", "tsx", "--test", file], {
    stdio: "ignore",
  });
  return {
    title: file,
    head: ["what", "time", "target"],
    rows: [
      [
        "A10 differences of 100000 pairs",
        `${((performance.now() - started) / 1000).toFixed(1)} s`,
        verdict(status ?? 1, { limit: 0, unit: " failures" }),
      ],
    ],
  };
}
