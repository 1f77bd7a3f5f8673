import { sql } from "kysely";
import { createOrm } from "../../db/orm.ts";
import { rowsOf } from "../../db/queries/rows.ts";
import type { Service } from "../../test/support/process.ts";
import { quantile } from "../polling.ts";
import { openReader, type Reader } from "../raw-request.ts";
import { game } from "./game.ts";
import { note, verdict, type Table } from "../report.ts";

const base = `/v1/codex/${game}/id.item.n`;
const times = (limit: number) => (ms: number, _: number, entity: number) =>
  verdict(ms / entity, { limit, unit: "x" });
/** What is not kept is asked for once, so nothing of it comes from memory. */
const kinds: {
  name: string;
  path: (n: number) => string;
  /** Of its median, those of a kept entity and of one from the database. */
  aim: (ms: number, kept: number, entity: number) => string;
}[] = [
  { name: "an entity that is kept", path: () => `${base}1`, aim: () => "" },
  {
    name: "entity",
    path: (n) => base + n,
    aim: (ms, kept) => verdict(ms - kept, { limit: 0.5, unit: " ms more than kept" }),
  },
  { name: "entity at a patch", path: (n) => `${base}${n}?at_patch=1.1`, aim: times(2) },
  { name: "history", path: (n) => `${base}${n}/history`, aim: times(3) },
];
/** Of each kind. */
const reads = 400;
/** Before those, of entities elsewhere: the code is compiled and the statement planned, nothing read ahead. */
const warmUps = 100;
const warmUpStart = 10_000;
/** Branches of a game that nobody reads. */
const otherBranch = 1_000_000;

/** Single reads from the database while it holds many versions (A5). */
export async function measureDepth(service: Service, versions: number): Promise<Table> {
  await fill(service.databaseUrl, versions);
  const reader = await openReader(service.url);
  // By turns, so that what the database reads from disk for one of them is not paid for by another.
  for (let n = 0; n < warmUps; n++)
    for (const { path } of kinds) await reader.read(path(warmUpStart + n));
  const taken = kinds.map((): number[] => []);
  for (let n = 0; n < reads; n++)
    for (const [at, { path }] of kinds.entries())
      taken[at]?.push(await timeRead(reader, path(2 + kinds.length * n + at)));
  reader.close();
  const medians = taken.map((some) => quantile(some, 0.5));
  const [kept = 0, entity = 0] = medians;
  return {
    title: `single reads that nobody made before, over HTTP, ${versions} versions in the database`,
    head: ["read", "p50 ms", "p99 ms", "to entity", "aim"],
    rows: kinds.map(({ name, aim }, at) => {
      const middle = medians[at] ?? 0;
      const worst = quantile(taken[at] ?? [], 0.99);
      const cells = [middle.toFixed(2), worst.toFixed(2), `${(middle / entity).toFixed(2)}x`];
      return [name, ...cells, aim(middle, kept, entity)];
    }),
  };
}

async function timeRead(reader: Reader, path: string): Promise<number> {
  const started = performance.now();
  await reader.read(path);
  return performance.now() - started;
}

/** Versions of another game, each with a document of its own. */
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
