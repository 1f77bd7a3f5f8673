import type { Audit, AuditEntry } from "../../../server/operator/audit.ts";

/** An audit that makes every change, and lists who made which and how each ended. */
export function listAudits(
  list: (AuditEntry & { operator: string })[] = [],
  outcomes: string[] = [],
): Audit {
  return async ({ caller }, { action, target, reason, outcomeOf }, make) => {
    const given = reason === undefined ? {} : { reason };
    list.push({ operator: caller.name, action, target, ...given });
    const result = await make();
    outcomes.push(outcomeOf?.(result) ?? "done");
    return result;
  };
}
