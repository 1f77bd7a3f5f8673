import type { WithEnqueue } from "../../../workers/queues.ts";
import type {
  WithClock,
  WithConfig,
  WithEm,
  WithFaults,
  WithLog,
  WithMetrics,
  WithOrm,
  WithRedis,
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
    WithRedis,
    WithTokens,
    WithEnqueue {}
