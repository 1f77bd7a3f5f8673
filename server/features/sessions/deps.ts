import type { WithEnqueue } from "../../../workers/queues.ts";
import type {
  WithClock,
  WithConfig,
  WithEm,
  WithFaults,
  WithLog,
  WithMetrics,
  WithPasswords,
  WithRedis,
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
    WithRedis,
    WithTokens,
    WithPasswords,
    WithEnqueue {}
