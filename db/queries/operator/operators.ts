import type { EntityManager } from "@mikro-orm/postgresql";
import { AuditLogSchema, type AuditLog } from "../../entities/audit-log.ts";
import { OperatorSchema, type Operator } from "../../entities/operator.ts";
import { isSet } from "../expressions.ts";
import { findRows } from "../rows.ts";

/** The operator whose token has this hash, unless revoked. */
export async function findActiveOperator(
  em: EntityManager,
  tokenHash: string,
): Promise<Pick<Operator, "name" | "role"> | null> {
  return em.findOne(OperatorSchema, { tokenHash, revokedAt: null });
}

/** Throws the unique-constraint error if the name exists. */
export async function insertOperator(
  em: EntityManager,
  operator: { name: string; role: Operator["role"]; tokenHash: string },
): Promise<void> {
  await em.insert(OperatorSchema, operator);
}

/** False if the operator does not exist or is already revoked. */
export async function revokeOperator(em: EntityManager, name: string, now: Date): Promise<boolean> {
  const where = { name, revokedAt: null };
  return (await em.nativeUpdate(OperatorSchema, where, { revokedAt: now })) > 0;
}

export async function insertAuditEntry(
  em: EntityManager,
  entry: Pick<AuditLog, "operator" | "action" | "target" | "reason" | "outcome"> &
    Partial<Pick<AuditLog, "detail" | "numChanged" | "requestId">>,
): Promise<number> {
  return em.insert(AuditLogSchema, entry);
}

export async function setAuditOutcome(
  em: EntityManager,
  id: number,
  end: Pick<AuditLog, "outcome" | "numChanged"> & Partial<Pick<AuditLog, "detail">>,
): Promise<void> {
  await em.nativeUpdate(AuditLogSchema, { id }, end);
}

/** Names and roles of up to 1,000 operators, without their tokens. */
export function listOperators(
  em: EntityManager,
): Promise<{ name: string; role: string; is_revoked: boolean }[]> {
  return findRows(em, (db) =>
    db
      .selectFrom("operators")
      .select(["name", "role", isSet("revoked_at").as("is_revoked")])
      .orderBy("id")
      .limit(1000),
  );
}
