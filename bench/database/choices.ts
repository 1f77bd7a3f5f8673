import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { createOrm } from "../../db/orm.ts";
import { rowsOf } from "../../db/queries/rows.ts";
import { openEnvelopeFile } from "../../importers/envelope/envelope-file.ts";
import { importEnvelope } from "../../importers/pipeline/import.ts";
import { entityCount, writePatches } from "../codex/game.ts";
import { mainThreadMicros } from "../cpu.ts";
import { game as projectedGame } from "../projection/game.ts";
import { median, medianWithInterval, type Table } from "../report.ts";
import type { Scenario } from "../floor-scenario.ts";
import { withService } from "../service.ts";
import type { Choice } from "./choice.ts";
import { importChoices } from "./import-choices.ts";
import { jsonChoices } from "./json-choices.ts";
import { fillQuestions, questionChoices, questionCount } from "./question-choices.ts";
import { readChoices } from "./read-choices.ts";

const rounds = 15;
/** Nothing else works in the database. */
const env = { GAME_DATA_GAME: projectedGame, JOB_WORKERS: "0" };

export const choices: Scenario = {
  about: "statements optimized by hand, and their plain forms",
  run: () => withService(1, ({ databaseUrl }) => measure(databaseUrl), env),
};

async function measure(databaseUrl: string): Promise<Table[]> {
  const files = await writePatches([1]);
  const orm = await createOrm({ DATABASE_URL: databaseUrl, DATABASE_POOL: 1 });
  try {
    const source = await openEnvelopeFile(files.file(1));
    await importEnvelope(orm.em.fork(), source, { now: Date.now() });
    await fillQuestions(orm.em.fork());
    const all = [
      ...(await readChoices(orm)),
      ...importChoices(orm, source),
      ...questionChoices(orm),
      ...(await jsonChoices(orm)),
    ];
    const rows: string[][] = [];
    for (const choice of all) rows.push(await compare(choice, await backendPid(orm.em.fork())));
    const title = `${entityCount} entities, ${questionCount} questions per kind, interleaved, medians`;
    const head = ["what", "by hand, ms", "plain, ms", "plain to by hand", "in processor time"];
    return [{ title, head, rows }];
  } finally {
    await orm.close(true);
    files.remove();
  }
}

interface Spent {
  ms: number;
  /** Processor time of this process and of its session in Postgres; parallel workers of a plan are not counted. */
  micros: number;
}

async function compare({ name, byHand, plain }: Choice, backend: number): Promise<string[]> {
  const spent = { byHand: [] as Spent[], plain: [] as Spent[] };
  for (let round = -1; round < rounds; round++) {
    const order = [["byHand", byHand] as const, ["plain", plain] as const];
    for (const [side, work] of round % 2 === 0 ? order : order.toReversed()) {
      const one = await measureWork(work, backend);
      // The first round warms up.
      if (round >= 0) spent[side].push(one);
    }
  }
  const ratios = (["ms", "micros"] as const).map((key) =>
    medianWithInterval(
      spent.plain.map((one, round) => one[key] / (spent.byHand[round]?.[key] ?? one[key])),
      "x",
    ),
  );
  const times = [spent.byHand, spent.plain].map((all) => median(all.map(({ ms }) => ms)));
  return [name, ...times.map((ms) => ms.toFixed(2)), ...ratios];
}

async function measureWork(work: () => Promise<unknown>, backend: number): Promise<Spent> {
  const [started, own, theirs] = [
    performance.now(),
    process.cpuUsage(),
    mainThreadMicros([backend]),
  ];
  await work();
  const ms = performance.now() - started;
  const { user, system } = process.cpuUsage(own);
  return { ms, micros: user + system + mainThreadMicros([backend]) - theirs };
}

/** The process of the pool's only session. */
async function backendPid(em: EntityManager): Promise<number> {
  const [row] = await rowsOf<{ pid: number }>(em, sql`select pg_backend_pid() as pid`);
  if (row === undefined) throw new Error("Postgres named no session");
  return row.pid;
}
