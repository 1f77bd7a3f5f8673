import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { readFileSync } from "node:fs";
import { rowsOf } from "../db/queries/rows.ts";

/** Pid of the Postgres behind `em`, the parent of its sessions. Linux only. */
export async function postgresPid(em: EntityManager): Promise<number> {
  const [row] = await rowsOf<{ pid: number }>(em, sql`select pg_backend_pid() as pid`);
  const status = readFileSync(`/proc/${row?.pid ?? 0}/status`, "utf8");
  return Number(/^PPid:\s+(\d+)/m.exec(status)?.[1] ?? 0);
}
