import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { createOrm } from "../../db/orm.ts";
import { readDirectory, rangesBetween } from "../../db/queries/archive/codex-directory.ts";
import { findPresentEntity, listHistory } from "../../db/queries/archive/codex-read.ts";
import { rowsOf } from "../../db/queries/rows.ts";
import type { Service } from "../../test/support/process.ts";
import { quantile } from "../polling.ts";
import { openReader } from "../raw-request.ts";
import { game } from "./game.ts";
import { note, verdict, type Table } from "../report.ts";

const base = `/v1/codex/${game}/id.item.n`;
/** Uncached reads request each entity once, so nothing comes from memory. */
const kinds: { name: string; path: (n: number) => string; mostOfEntity: number | null }[] = [
  { name: "cached entity", path: () => `${base}1`, mostOfEntity: null },
  { name: "entity", path: (n) => base + n, mostOfEntity: null },
  { name: "entity at a patch", path: (n) => `${base}${n}?at_patch=1.1`, mostOfEntity: 2 },
  { name: "history", path: (n) => `${base}${n}/history`, mostOfEntity: 3 },
];
/** Number of reads per kind. */
const reads = 400;
/** Warm-up reads of other entities: they compile the code and plan the statements, but read nothing ahead. */
const warmUps = 100;
const warmUpStart = 10_000;
/** Id of a branch that is not read. */
const otherBranch = 1_000_000;

/** Single reads with many versions in the database: over HTTP, and directly from Postgres (A5). */
export async function measureDepth(service: Service, versions: number): Promise<Table[]> {
  await fill(service.databaseUrl, versions);
  const reader = await openReader(service.url);
  const overHttp = await interleave(
    kinds.map(
      ({ path }) =>
        (n: number) =>
          reader.read(path(n)),
    ),
  );
  reader.close();
  const orm = await createOrm({ DATABASE_URL: service.databaseUrl, DATABASE_POOL: 1 });
  const fromStore = await interleave(await storeReads(orm.em.fork())).finally(() =>
    orm.close(true),
  );
  const [, entity = 0] = overHttp.map(median);
  const [storedEntity = 0] = fromStore.map(median);
  const title = `uncached single reads, ${versions} versions in the database`;
  const head = ["read", "p50 ms", "p99 ms", "vs entity", "target"];
  const row = (name: string, times: number[], one: number, target: string) => [
    name,
    median(times).toFixed(2),
    quantile(times, 0.99).toFixed(2),
    `${(median(times) / one).toFixed(2)}x`,
    target,
  ];
  const targetOf = (times: number[], one: number, limit: number | null) =>
    limit === null ? "" : verdict(median(times) / one, { limit, unit: "x" });
  return [
    {
      title: `${title}, over HTTP`,
      head,
      rows: kinds.map(({ name, mostOfEntity }, at) => {
        const times = overHttp[at] ?? [];
        return row(name, times, entity, targetOf(times, entity, mostOfEntity));
      }),
    },
    {
      title: `${title}, one statement of the archive in this process`,
      head,
      rows: kinds.slice(1).map(({ name, mostOfEntity }, at) => {
        const times = fromStore[at] ?? [];
        const own = verdict(storedEntity, { limit: 0.5, unit: " ms" });
        const target = targetOf(times, storedEntity, mostOfEntity);
        return row(name, times, storedEntity, at === 0 ? own : target);
      }),
    },
  ];
}

const median = (times: readonly number[]) => quantile([...times], 0.5);

/** The queries behind the HTTP reads: an entity, one at a patch, a history. */
async function storeReads(em: EntityManager): Promise<((n: number) => Promise<unknown>)[]> {
  const [directory] = await readDirectory(em, game);
  const patches = directory?.branches.get("main")?.patches ?? [];
  const [first, head] = [patches[0], patches.at(-1)];
  if (directory === undefined || first === undefined || head === undefined)
    throw new Error("there is no game to read");
  const blocks = rangesBetween(directory, null, head);
  // Other entities than those read over HTTP.
  const key = (n: number) => `id.item.n${n + kinds.length * reads}`;
  return [
    (n) => findPresentEntity(em, directory.id, head, key(n)),
    (n) => findPresentEntity(em, directory.id, first, key(n)),
    (n) => listHistory(em, directory.id, key(n), blocks),
  ];
}

/** Interleaved, so that a disk read for one query does not benefit another. */
async function interleave(asks: readonly ((n: number) => Promise<unknown>)[]): Promise<number[][]> {
  for (let n = 0; n < warmUps; n++) for (const ask of asks) await ask(warmUpStart + n);
  const taken = asks.map((): number[] => []);
  for (let n = 0; n < reads; n++)
    for (const [at, ask] of asks.entries()) {
      const started = performance.now();
      await ask(2 + asks.length * n + at);
      taken[at]?.push(performance.now() - started);
    }
  return taken;
}

/** Adds versions of another game, each with its own document. */
async function fill(databaseUrl: string, versions: number): Promise<void> {
  const orm = await createOrm({ DATABASE_URL: databaseUrl, DATABASE_POOL: 2 });
  const em = orm.em.fork();
  try {
    const started = performance.now();
    await rowsOf(em, sql.raw("set statement_timeout = 0"));
    await rowsOf(
      em,
      sql`with made as (
          insert into codex_documents (game_id, hash, body)
          select 0, md5(n::text) || md5((-n)::text),
            '"name":"n","tags":[],"icon":null,"data":{"text":"' || repeat(md5(n::text), 18) || '"},"links":[],"assets":[]'
          from generate_series(1, ${versions}::int) n returning id
        )
        insert into codex_versions (branch_id, entity_id, document_id, patch_id, from_ord, to_ord)
        select ${otherBranch}::int + id % 10, 1000000000 + id / 50, id, 0, id % 50, id % 50 + 1 from made`,
    );
    await rowsOf(em, sql.raw("analyze codex_documents, codex_versions"));
    note(`filled with ${versions} versions in ${(performance.now() - started).toFixed(0)} ms`);
  } finally {
    await orm.close(true);
  }
}
