import type { EntityManager } from "@mikro-orm/postgresql";
import { listEntriesOfRequest } from "../../../../db/queries/operator/audit-log.ts";

/** A change of an operator that was made by a request. */
export interface AuditedByRequest {
  atMs: number;
  operator: string;
  action: string;
  target: string;
  reason: string;
}

/** Oldest first. */
export async function listAuditedByRequest(
  em: EntityManager,
  requestId: string,
  limit: number,
): Promise<AuditedByRequest[]> {
  const entries = await listEntriesOfRequest(em, requestId, limit);
  return entries.map(({ createdAt, ...entry }) => ({ ...entry, atMs: createdAt.getTime() }));
}
