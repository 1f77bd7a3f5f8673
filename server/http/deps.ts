import type { EntityManager } from "@mikro-orm/postgresql";
import type {
  WithClock,
  WithConfig,
  WithFaults,
  WithMetrics,
  WithRedis,
  WithRequests,
  WithTokens,
} from "../platform/capabilities.ts";
import type { WithTracer } from "../platform/tracing/tracer.ts";
import type { ApiKeyCache } from "../platform/security/api-keys.ts";
import type { ClosedAccounts } from "../platform/security/closed-accounts.ts";

/** What the pipeline takes from the dependencies of its process; it hands all of them on to the handlers. */
export interface HttpDeps
  extends
    WithConfig,
    WithClock,
    WithFaults,
    WithMetrics,
    WithRedis,
    WithRequests,
    WithTokens,
    WithTracer {
  /** Accounts whose access tokens are refused although they have not expired (TOK-11). */
  closedAccounts: ClosedAccounts;
  keys: ApiKeyCache;
  /**
   * A fork whose statements and transactions count against the caller's share of the connection pool. The caller is
   * a player or an address; the `em` of a request is such a fork. With `guestId` each transaction begins with the check
   * that this guest was not upgraded (S8).
   */
  emFor: (who: string, guestId?: number | null) => EntityManager;
}
