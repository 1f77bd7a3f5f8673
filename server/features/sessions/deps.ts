import type { WithEnqueue } from "../../../workers/queues.ts";
import type {
  WithClock,
  WithConfig,
  WithEm,
  WithFaults,
  WithLog,
  WithMetrics,
  WithOrigin,
  WithPasswords,
  WithRedis,
  WithRequests,
  WithTokens,
} from "../../platform/capabilities.ts";

export interface SessionDeps
  extends
    WithEm,
    WithConfig,
    WithClock,
    WithLog,
    WithFaults,
    WithMetrics,
    WithOrigin,
    WithRedis,
    WithRequests,
    WithTokens,
    WithPasswords,
    WithEnqueue {}
