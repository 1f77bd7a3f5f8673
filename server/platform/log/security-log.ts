import type { Logger } from "./logger.ts";

export type SecurityEvent =
  | "login_locked"
  | "password_changed"
  | "password_reset"
  | "address_proven"
  | "address_changed"
  | "address_restored"
  | "account_closed"
  | "key_created"
  | "key_rolled"
  | "key_revoked";

/** Ids only: other facts about an account or a key are personal or secret (S27). */
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
  // Flushed immediately: the process may be killed before its next batch of lines.
  log.flush();
}
