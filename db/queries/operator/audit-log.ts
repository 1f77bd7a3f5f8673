import type { EntityManager } from "@mikro-orm/postgresql";
import type { SelectQueryBuilder } from "kysely";
import type { Database } from "../../database.ts";
import type { AuditLog } from "../../entities/audit-log.ts";
import { findRow, findRows } from "../rows.ts";

export interface AuditFilter {
  operator?: string | undefined;
  action?: string | undefined;
  target?: string | undefined;
  /** At or after it. */
  from?: Date | undefined;
  /** Before it. */
  to?: Date | undefined;
}

/** The matching entries, newest first. */
export function listEntries(
  em: EntityManager,
  filter: AuditFilter,
  { limit, offset }: { limit: number; offset: number },
): Promise<AuditLog[]> {
  return findRows(em, (db) =>
    matching(db.selectFrom("audit_log"), filter)
      .select(["id", "operator", "action", "target", "reason", "detail", "outcome"])
      .select(["num_changed as numChanged", "request_id as requestId", "created_at as createdAt"])
      .orderBy("id", "desc")
      .limit(limit)
      .offset(offset),
  );
}

/** The entries of one request, oldest first. */
export const listEntriesOfRequest = (
  em: EntityManager,
  requestId: string,
  limit: number,
): Promise<Pick<AuditLog, "operator" | "action" | "target" | "reason" | "createdAt">[]> =>
  findRows(em, (db) =>
    db
      .selectFrom("audit_log")
      .select(["operator", "action", "target", "reason", "created_at as createdAt"])
      .where("request_id", "=", requestId)
      .orderBy("id")
      .limit(limit),
  );

/** Number of matching entries, counted up to `most`. */
export async function countEntries(
  em: EntityManager,
  filter: AuditFilter,
  most: number,
): Promise<number> {
  const row = await findRow(em, (db) =>
    db
      .selectFrom((of) =>
        matching(of.selectFrom("audit_log"), filter).select("id").limit(most).as("first"),
      )
      .select((eb) => eb.fn.countAll<number>().as("count")),
  );
  return row?.count ?? 0;
}

type Entries = SelectQueryBuilder<Database, "audit_log", object>;

const matching = (entries: Entries, { operator, action, target, from, to }: AuditFilter): Entries =>
  entries
    .$if(operator !== undefined, (some) => some.where("operator", "=", operator ?? ""))
    .$if(action !== undefined, (some) => some.where("action", "=", action ?? ""))
    .$if(target !== undefined, (some) => some.where("target", "=", target ?? ""))
    .$if(from !== undefined, (some) => some.where("created_at", ">=", from ?? new Date(0)))
    .$if(to !== undefined, (some) => some.where("created_at", "<", to ?? new Date(0)));
