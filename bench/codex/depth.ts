import { sql } from "kysely";
import { createOrm } from "../../db/orm.ts";
import { rowsOf } from "../../db/queries/rows.ts";
import type { Service } from "../../test/support/process.ts";
import { quantile } from "../polling.ts";
import { openReader, type Reader } from "../raw-request.ts";
import { game } from "./game.ts";
import { note, verdict, type Table } from "../report.ts";

/** Reads of each kind; every entity is asked for once, so nothing comes from memory. */
const reads = 400;
/** Before those, of entities elsewhere: the code is compiled and the statement planned, nothing read ahead. */
const warmUps = 100;
const warmUpStart = 10_000;
/** Branches of a game that nobody reads. */
const otherBranch = 1_000_000;

/** Single reads from the database while it holds many versions (A5). */
export async function measureDepth(service: Service, versions: number): Promise<Table> {
  await fill(service.databaseUrl, versions);
  const base = `/v1/codex/${game}/id.item.n`;
  const reader = await openReader(service.url);
  const kinds = [
    ["entity", ""],
    ["entity at a patch", "?at_patch=1.1"],
    ["history", "/history"],
  ] as const;
  const kept = await timeReads(reader, () => `${base}1`);
  const medians: number[] = [];
  const rows = [["an entity that is kept", ...shown(kept), "", ""]];
  for (const [at, [name, rest]] of kinds.entries()) {
    for (let n = 0; n < warmUps; n++)
      await reader.read(`${base}${warmUpStart + at * warmUps + n}${rest}`);
    const times = await timeReads(reader, (n) => `${base}${2 + at * reads + n * 7}${rest}`);
    const middle = quantile(times, 0.5);
    medians.push(middle);
    const ratio = middle / (medians[0] ?? middle);
    const aim =
      at === 0
        ? verdict(middle - quantile(kept, 0.5), { limit: 0.5, unit: " ms more than kept" })
        : verdict(ratio, { limit: at + 1, unit: "x" });
    rows.push([name, ...shown(times), `${ratio.toFixed(2)}x`, aim]);
  }
  reader.close();
  return {
    title: `single reads that nobody made before, over HTTP, ${versions} versions in the database`,
    head: ["read", "p50 ms", "p99 ms", "to entity", "aim"],
    rows,
  };
}

async function timeReads(reader: Reader, path: (n: number) => string): Promise<number[]> {
  const times: number[] = [];
  for (let n = 0; n < reads; n++) {
    const started = performance.now();
    await reader.read(path(n));
    times.push(performance.now() - started);
  }
  return times;
}

const shown = (times: number[]) => [0.5, 0.99].map((part) => quantile(times, part).toFixed(2));

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
