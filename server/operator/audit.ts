import type { Change, ChangeEnd, ChangeOutcome } from "../features/operators/domain/operators.ts";
import type { RecordUndone } from "../features/operators/domain/undone-changes.ts";
import type { OperatorCaller } from "../http/auth/auth.ts";
import type { RequestInfo } from "../http/pipeline/route.ts";
import { toAppError } from "../http/pipeline/failures.ts";
import type { Logger } from "../platform/log/logger.ts";
import type { Action } from "./roles.ts";

/** Who asked, and in which request. */
export interface AuditedBy {
  caller: OperatorCaller;
  request: Pick<RequestInfo, "id">;
}

export interface AuditEntry {
  action: Action;
  target: string;
  reason?: string;
}

export interface AuditedChange<T> extends AuditEntry {
  /** Number of things that the change changed. */
  countOf?: (result: T) => number;
  /** For a change whose refusals are results; default: done. */
  outcomeOf?: (result: T) => ChangeOutcome;
}

/**
 * Records who changes what and why, makes the change, and records how it ended (OPS-54). Rejects if the record cannot
 * be written; nothing is changed then (S16).
 */
export type Audit = <T>(
  by: AuditedBy,
  change: AuditedChange<T>,
  make: () => Promise<T>,
) => Promise<T>;

export interface WithAudit {
  audit: Audit;
}

export interface AuditStore {
  /** Returns the id of the record. */
  begin(change: Change): Promise<number>;
  end(id: number, end: ChangeEnd): Promise<void>;
}

/** Records of changes whose own record was rolled back with them (OPS-90). */
export const createUndoneRecords =
  (store: Pick<AuditStore, "begin">, log: Pick<Logger, "error">): RecordUndone =>
  async (change) => {
    await store.begin(change).catch((error: unknown) => {
      const { operator, action, target, outcome } = change;
      log.error(
        {
          event: "audit_undone_failed",
          audit: true,
          operator,
          action,
          target,
          outcome,
          err: error,
        },
        "record of a refused or failed change not written, it changed nothing",
      );
    });
  };

export function outcomeOfStatus(status: number): ChangeOutcome {
  if (status < 400) return "done";
  return status < 500 ? "refused" : "failed";
}

export function createAudit(store: AuditStore, log: Pick<Logger, "warn" | "error">): Audit {
  return async (by, { countOf, outcomeOf, ...change }, make) => {
    const operator = by.caller.name;
    const requestId = by.request.id;
    log.warn(
      { event: "operator_action", audit: true, operator, requestId, ...change },
      "operator action",
    );
    const id = await store.begin({ ...change, operator, requestId, outcome: "started" });
    const end = (outcome: ChangeOutcome, numChanged: number | null = null) =>
      store
        .end(id, { outcome, numChanged })
        .catch((error: unknown) =>
          log.error(
            { event: "audit_outcome_failed", audit: true, entry: id, outcome, err: error },
            "outcome of a change not written, its audit record stays started",
          ),
        );
    try {
      const result = await make();
      await end(outcomeOf?.(result) ?? "done", countOf?.(result) ?? null);
      return result;
    } catch (error) {
      await end(outcomeOfStatus(toAppError(error).status));
      throw error;
    }
  };
}
