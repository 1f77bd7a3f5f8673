import type { WithEnqueue } from "../../../workers/queues.ts";
import type {
  WithClock,
  WithConfig,
  WithEm,
  WithFaults,
  WithLog,
  WithMetrics,
  WithOrigin,
  WithOrm,
  WithRedis,
  WithRequests,
  WithTokens,
} from "../../platform/capabilities.ts";

export interface SystemDeps
  extends
    WithEm,
    WithOrm,
    WithConfig,
    WithClock,
    WithLog,
    WithFaults,
    WithMetrics,
    WithOrigin,
    WithRedis,
    WithRequests,
    WithTokens,
    WithEnqueue {}
