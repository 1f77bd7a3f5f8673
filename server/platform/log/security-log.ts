import type { Logger } from "./logger.ts";

export type SecurityEvent =
  | "login_locked"
  | "password_changed"
  | "password_reset"
  | "address_proven"
  | "account_closed"
  | "key_created"
  | "key_rolled"
  | "key_revoked";

/** Ids alone: what else could be said of an account or a key is personal or secret (S27). */
export interface SecurityIds {
  /** Null: a login that names no account. */
  player: number | null;
  key?: number;
}

export function logSecurity(
  { log }: { log: Logger },
  event: SecurityEvent,
  ids: SecurityIds,
): void {
  log.info({ event, ...ids }, "security event");
  // At once: the process may be killed before its next batch of lines.
  log.flush();
}
