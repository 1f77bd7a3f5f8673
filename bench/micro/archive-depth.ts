import type { EntityManager, MikroORM } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { readDirectory, rangesBetween } from "../../db/queries/archive/codex-directory.ts";
import { findPresentEntity, listHistory } from "../../db/queries/archive/codex-read.ts";
import { rowsOf } from "../../db/queries/rows.ts";
import type { Service } from "../../test/support/process.ts";
import { openSocket, read } from "../raw-request.ts";
import { percentileOrMax, type Summary } from "../load/histogram.ts";
import { note, verdict, type Table } from "../report.ts";
import { game } from "./archive-game.ts";
import { millisOf, timeInTurns, type Work } from "./in-turns.ts";

/** Most time of a read, as a multiple of that of an entity. */
const limits = { "cached entity": null, entity: null, "entity at a patch": 2, history: 3 } as const;
type Read = keyof typeof limits;
const rounds = { warmUps: 100, rounds: 1_000 };
/** Id of a branch that is not read. */
const otherBranch = 1_000_000;

/** Single reads with many versions in the database: over HTTP, and directly from Postgres (A5). */
export async function measureDepth(
  service: Service,
  orm: MikroORM,
  versions: number,
): Promise<Table[]> {
  const ms = await millisOf(() => orm.em.fork().transactional((em) => fill(em, versions)));
  note(`filled with ${versions} versions in ${ms.toFixed(0)} ms`);
  const socket = await openSocket(service.url);
  const base = `/v1/codex/${game}/id.item.n`;
  const overHttp = await timeInTurns<Read>(
    {
      "cached entity": () => read(socket, `${base}1`),
      // Each is read once, so nothing comes from memory.
      entity: (n) => read(socket, base + (n + 2)),
      "entity at a patch": (n) => read(socket, `${base}${n + 2}?at_patch=1.1`),
      history: (n) => read(socket, `${base}${n + 2}/history`),
    },
    rounds,
  );
  socket.destroy();
  const fromStore = await timeInTurns(await storeReads(orm.em.fork()), rounds);
  const title = `uncached single reads, ${versions} versions in the database`;
  return [
    tableOf(`${title}, over HTTP`, overHttp, ""),
    tableOf(
      `${title}, one statement of the archive in this process`,
      fromStore,
      verdict(medianOf(fromStore, "entity"), { limit: 0.5, unit: " ms" }),
    ),
  ];
}

const medianOf = (measured: ReadonlyMap<Read, Summary>, name: Read): number => {
  const summary = measured.get(name);
  return summary ? percentileOrMax(summary, 50) : Number.NaN;
};

function tableOf(title: string, measured: ReadonlyMap<Read, Summary>, ofEntity: string): Table {
  return {
    title,
    head: ["read", "p50 ms", "p99 ms", "vs entity", "target"],
    rows: [...measured].map(([name, summary]) => {
      const ratio = medianOf(measured, name) / medianOf(measured, "entity");
      const limit = limits[name];
      return [
        ...[name, medianOf(measured, name).toFixed(2), percentileOrMax(summary, 99).toFixed(2)],
        `${ratio.toFixed(2)}x`,
        limit === null ? (name === "entity" ? ofEntity : "") : verdict(ratio, { limit, unit: "x" }),
      ];
    }),
  };
}

/** The queries behind the HTTP reads, for other entities. */
async function storeReads(
  em: EntityManager,
): Promise<Record<Exclude<Read, "cached entity">, Work>> {
  const [directory] = await readDirectory(em, game);
  const patches = directory?.branches.get("main")?.patches ?? [];
  const [first, head] = [patches[0], patches.at(-1)];
  if (directory === undefined || first === undefined || head === undefined)
    throw new Error("there is no game to read");
  const blocks = rangesBetween(directory, null, head);
  const key = (n: number) => `id.item.n${n + 10_000}`;
  return {
    entity: (n) => findPresentEntity(em, directory.id, head, key(n)),
    "entity at a patch": (n) => findPresentEntity(em, directory.id, first, key(n)),
    history: (n) => listHistory(em, directory.id, key(n), blocks),
  };
}

/** Adds versions of another game, each with its own document. */
async function fill(em: EntityManager, versions: number): Promise<void> {
  await rowsOf(em, sql.raw("set local statement_timeout = 0"));
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
}
