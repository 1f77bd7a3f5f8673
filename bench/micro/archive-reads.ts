import type { EntityManager, MikroORM } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { readDirectory, rangesBetween } from "../../db/queries/archive/codex-directory.ts";
import { findPresentEntity, listHistory } from "../../db/queries/archive/codex-read.ts";
import { rowsOf } from "../../db/queries/rows.ts";
import type { Service } from "../../test/support/process.ts";
import { openSocket, read } from "../raw-request.ts";
import { note, verdict, type Table } from "../report.ts";
import { game, historyStart, lastEarlyPatch } from "./archive-game.ts";
import { millisOf, timeInTurns, timesTable, type Work } from "./in-turns.ts";

const base = `/v1/codex/${game}`;
/** Id of a branch that is not read. */
const otherBranch = 1_000_000;

/** Filtered lists, changelogs and a difference over the long history: first reads and repeated ones (A6, A7). */
export async function measureLists(service: Service, distance: number): Promise<Table[]> {
  const socket = await openSocket(service.url);
  const get = (path: string) => read(socket, base + path);
  const filtered = (n: number) => get(`/item?filter[data.power]:gte=${n}&limit=50`);
  const lists = await timeInTurns(
    {
      "filtered list and count (A6)": filtered,
      "the same again": filtered,
      "later pages of it": (n) =>
        get(`/item?filter[data.level]:gte=3&limit=50&cursor=${900 + 50 * n}`),
      search: (n) => get(`/item?q=number+${n}`),
    },
    { warmUps: 200, rounds: 60 },
  );
  const changes = (n: number) => get(`/changelog?from=1.2&to=1.3&limit=${100 - n}`);
  const steps = await timeInTurns(
    { "changelog of 400 entities (A7)": changes, "changelog again": changes },
    { rounds: 60 },
  );
  const other = await openSocket(service.url);
  let isOver = false;
  const path = `/diff?from=1.${lastEarlyPatch}&to=1.${historyStart + distance}`;
  const difference = millisOf(() => get(path)).finally(() => (isOver = true));
  const waits: number[] = [];
  while (!isOver) waits.push(await millisOf(() => read(other, `${base}/id.item.n9`)));
  for (const one of [socket, other]) one.destroy();
  const [took, wait] = [await difference, Math.max(...waits)];
  const row = (what: string, ms: number, limit: number) => [
    ...[what, ms.toFixed(0), verdict(ms, { limit, unit: " ms" })],
  ];
  return [
    timesTable("reads over HTTP", new Map([...lists, ...steps]), {
      "filtered list and count (A6)": { limit: 20 },
      "the same again": { limit: 2 },
      "later pages of it": { limit: 2 },
      search: { limit: 20 },
      "changelog of 400 entities (A7)": { limit: 40 },
      "changelog again": { limit: 1 },
    }),
    {
      title: `difference over ${distance} patches (A7), the first read`,
      head: ["what", "ms", "target"],
      rows: [row("difference", took, 1_500), row("longest wait of another reader", wait, 50)],
    },
  ];
}

/** Single reads with many versions in the database: over HTTP, and one statement each (A5). */
export async function measureDepth(
  service: Service,
  orm: MikroORM,
  versions: number,
): Promise<Table[]> {
  const ms = await millisOf(() => orm.em.fork().transactional((em) => fill(em, versions)));
  note(`filled with ${versions} versions in ${ms.toFixed(0)} ms`);
  const socket = await openSocket(service.url);
  const get = (path: string) => read(socket, `${base}/id.item.n${path}`);
  const rounds = { warmUps: 100, rounds: 1_000 };
  // All but the first are read once, so nothing comes from memory.
  const overHttp = await timeInTurns(
    {
      "cached entity": () => get("1"),
      entity: (n) => get(String(n + 2)),
      "entity at a patch": (n) => get(`${n + 3_000}?at_patch=1.1`),
      history: (n) => get(`${n + 6_000}/history`),
    },
    rounds,
  );
  socket.destroy();
  const fromStore = await timeInTurns(await storeReads(orm.em.fork()), rounds);
  const title = `single reads, ${versions} versions in the database`;
  const limits = {
    "entity at a patch": { limit: 2, of: "entity" },
    history: { limit: 3, of: "entity" },
  };
  return [
    timesTable(`${title}, over HTTP`, overHttp, limits),
    timesTable(`${title}, one statement each`, fromStore, { entity: { limit: 0.5 }, ...limits }),
  ];
}

/** The queries behind the HTTP reads, for other entities. */
async function storeReads(em: EntityManager): Promise<Record<string, Work>> {
  const [directory] = await readDirectory(em, game);
  const patches = directory?.branches.get("main")?.patches ?? [];
  const [first, head] = [patches[0], patches.at(-1)];
  if (directory === undefined || first === undefined || head === undefined)
    throw new Error("there is no game to read");
  const blocks = rangesBetween(directory, null, head);
  const key = (n: number) => `id.item.n${n}`;
  return {
    entity: (n) => findPresentEntity(em, directory.id, head, key(n + 10_000)),
    "entity at a patch": (n) => findPresentEntity(em, directory.id, first, key(n + 13_000)),
    history: (n) => listHistory(em, directory.id, key(n + 16_000), blocks),
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
