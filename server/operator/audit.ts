import type { OperatorCaller } from "../http/auth/auth.ts";
import type { Action } from "./roles.ts";

export interface AuditedChange {
  action: Action;
  target: string;
  reason?: string;
}

/** Records who changes what and why. Rejects if that is not possible; nothing is changed then (S16). */
export type Audit = (caller: OperatorCaller, change: AuditedChange) => Promise<void>;

export interface WithAudit {
  audit: Audit;
}
