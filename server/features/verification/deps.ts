import type { WithEnqueue } from "../../../workers/queues.ts";
import type { WithRedis, WithTokens } from "../../platform/capabilities.ts";
import type { DeliveryDeps } from "../delivery/domain/deliver.ts";

/** What sending a mail takes, and tokens for its links. */
export interface VerificationDeps extends DeliveryDeps, WithRedis, WithTokens, WithEnqueue {}
