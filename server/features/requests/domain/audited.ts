import type { EntityManager } from "@mikro-orm/postgresql";

/** A change of an operator that was made by a request. */
export interface AuditedByRequest {
  atMs: number;
  operator: string;
  action: string;
  target: string;
  reason: string;
}

export type ListAuditedByRequest = (
  em: EntityManager,
  requestId: string,
  limit: number,
) => Promise<AuditedByRequest[]>;

/** Until `audit_log` has a `request_id`, no row names a request. */
export const listAuditedByRequest: ListAuditedByRequest = async () => [];
