import type { EntityManager } from "@mikro-orm/postgresql";
import {
  findActiveOperator,
  insertAuditEntry,
  insertOperator,
  listOperators,
  revokeOperator,
  setAuditOutcome,
} from "../../../../db/queries/operator/operators.ts";
import type { AuditLog } from "../../../../db/entities/audit-log.ts";
import { cutText } from "../../../platform/text/cut-text.ts";

/** Maximum characters of an audit record's target. */
const maxTarget = 255;

/** How a change ended: `started` while that is not known. */
export type ChangeOutcome = AuditLog["outcome"];

/** Who changed what and why (S16). */
export interface Change {
  /** Name of the operator, or `console`. */
  operator: string;
  action: string;
  target: string;
  reason?: string;
  detail?: Record<string, unknown>;
  /** Default: done. */
  outcome?: ChangeOutcome;
  /** Number of things that changed. */
  numChanged?: number | null;
  /** `X-Request-Id` of the operator's request. */
  requestId?: string | null;
}

/** Writes the record of a change; of one that is committed with it, the outcome is known. Returns its id. */
export function recordChange(em: EntityManager, change: Change): Promise<number> {
  const { target, reason = "", outcome = "done" } = change;
  return insertAuditEntry(em, { ...change, target: cutText(target, maxTarget), reason, outcome });
}

/** How a change ended, and what was not known before. */
export interface ChangeEnd {
  outcome: ChangeOutcome;
  numChanged: number | null;
  detail?: Record<string, unknown>;
}

/** Completes the record of a change that was recorded as started. */
export const endChange = (em: EntityManager, id: number, end: ChangeEnd): Promise<void> =>
  setAuditOutcome(em, id, end);

type NewOperator = Parameters<typeof insertOperator>[1];

/** Throws the unique-constraint error if the name exists. */
export async function addOperator(em: EntityManager, operator: NewOperator): Promise<void> {
  await insertOperator(em, operator);
  await recordChange(em, {
    operator: "console",
    action: "operator:create",
    target: operator.name,
  });
}

/** Ends the sessions of the operator too; false if there is none, or it was revoked before. */
export async function endOperator(em: EntityManager, name: string, now: Date): Promise<boolean> {
  if (!(await revokeOperator(em, name, now))) return false;
  await recordChange(em, { operator: "console", action: "operator:revoke", target: name });
  return true;
}

/** The operator whose token has this hash, unless revoked. */
export const operatorOf = (em: EntityManager, tokenHash: string) =>
  findActiveOperator(em, tokenHash);

export const allOperators = (em: EntityManager) => listOperators(em);
