import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { MikroORM } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { createOrm } from "../../db/orm.ts";
import { rowsOf } from "../../db/queries/rows.ts";
import { importEnvelope } from "../../importers/run.ts";
import { entity, envelope } from "../../test/support/archive.ts";
import type { Service } from "../../test/support/process.ts";
import { median, note, verdict, type Table } from "../report.ts";

export const entityCount = 20_000;
export const game = "bench";

/** Entities of about the size real games have. */
const entitiesAt = (patch: number) =>
  Array.from({ length: entityCount }, (_, n) =>
    entity(`id.item.n${n}`, {
      data: {
        level: n % 60,
        rarity: ["common", "rare", "epic"][n % 3],
        // Two of a hundred change with each patch.
        power: n % 50 === 0 ? n + patch : n,
        description: `An item of many words, number ${n}, made to be looked at`,
        stats: Array.from({ length: 12 }, (_, at) => ({ name: `stat_${at}`, value: at * n })),
      },
      tags: ["item", n % 2 === 0 ? "even" : "odd"],
    }),
  );

/** Imports against a bare COPY of the same rows, and what readers notice meanwhile (A1, A2, A4). */
export async function measureImports(service: Service): Promise<Table> {
  const orm = await createOrm({ DATABASE_URL: service.databaseUrl, DATABASE_POOL: 2 });
  try {
    const first = await timeImport(orm, 1);
    const copy = median([await timeCopy(orm), await timeCopy(orm), await timeCopy(orm)]);
    const url = `${service.url}/v1/codex/${game}/item?filter[data.level]:gte=0`;
    const idle = await readFor(url, wait(1_000));
    const changed: number[] = [];
    const busy: Readings = { times: [], errors: 0, counts: new Set() };
    for (const patch of [2, 3, 4]) {
      const importing = timeImport(orm, patch);
      const seen = await readFor(url, importing);
      busy.times.push(...seen.times);
      busy.errors += seen.errors;
      for (const count of seen.counts) busy.counts.add(count);
      changed.push(await importing);
    }
    const again = median([
      await timeImport(orm, 4),
      await timeImport(orm, 4),
      await timeImport(orm, 4),
    ]);
    const row = (name: string, ms: number, limit: number | null): string[] => [
      name,
      `${ms.toFixed(0)} ms`,
      `${(ms / copy).toFixed(2)}x`,
      limit === null ? "" : verdict(ms / copy, { limit, unit: "x" }),
    ];
    const worst = Math.max(...busy.times);
    const limit = Math.max(50, 5 * quantile(idle.times, 0.99));
    return {
      title: `${entityCount} entities; a bare COPY of their documents takes ${copy.toFixed(0)} ms`,
      head: ["what", "value", "to COPY", "aim"],
      rows: [
        row("first import", first, null),
        row("import, 2 % changed, with readers", median(changed), 1.25),
        row("the same again", again, 1),
        [
          "worst list while importing",
          `${worst.toFixed(1)} ms (idle p99 ${quantile(idle.times, 0.99).toFixed(1)} ms)`,
          "",
          verdict(worst, { limit: Math.round(limit), unit: " ms" }),
        ],
        [
          "wrong answers while importing",
          `${busy.errors} errors, counts ${[...busy.counts].join(" ")} in ${busy.times.length} reads`,
          "",
          verdict(busy.errors + busy.counts.size - 1, { limit: 0 }),
        ],
      ],
    };
  } finally {
    await orm.close(true);
  }
}

const wait = (ms: number) => new Promise((done) => setTimeout(done, ms));

async function timeImport(orm: MikroORM, patch: number): Promise<number> {
  const source = envelope({ game, version: `1.${patch}`, entities: entitiesAt(patch) });
  const started = performance.now();
  await importEnvelope(orm.em.fork(), source, { now: Date.now() });
  const ms = performance.now() - started;
  note(`import of 1.${patch}: ${ms.toFixed(0)} ms`);
  return ms;
}

/** A file that the database itself reads: nothing is faster. */
async function timeCopy(orm: MikroORM): Promise<number> {
  const em = orm.em.fork();
  const file = join(tmpdir(), `ember-copy-${process.pid}`);
  const source = `select e.key, e.type, d.hash, d.body from codex_head h
    join codex_entities e on e.id = h.entity_id join codex_documents d on d.id = h.document_id`;
  await rowsOf(em, sql.raw(`copy (${source}) to '${file}'`));
  await rowsOf(
    em,
    sql.raw("create table bench_copy (key text, type text, hash char(64), body text)"),
  );
  const started = performance.now();
  await rowsOf(em, sql.raw(`copy bench_copy from '${file}'`));
  const ms = performance.now() - started;
  await rowsOf(em, sql.raw("drop table bench_copy"));
  rmSync(file, { force: true });
  return ms;
}

interface Readings {
  times: number[];
  errors: number;
  counts: Set<number>;
}

/** Reads an address again and again until something is over. */
async function readFor(url: string, over: Promise<unknown>): Promise<Readings> {
  const seen: Readings = { times: [], errors: 0, counts: new Set() };
  const state = { isOver: false };
  void over.finally(() => (state.isOver = true)).catch(() => {});
  while (!state.isOver) {
    const started = performance.now();
    const answer = await fetch(url);
    const { body } = (await answer.json()) as { body?: { count: number; entities: unknown[] } };
    seen.times.push(performance.now() - started);
    if (answer.status === 200 && body?.entities.length === 50) seen.counts.add(body.count);
    else seen.errors++;
    await wait(2);
  }
  return seen;
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
