import type { WithEnqueue } from "../../../workers/queues.ts";
import type { WithRedis, WithTokens } from "../../platform/capabilities.ts";
import type { DeliveryDeps } from "../delivery/domain/deliver.ts";
import type { WriteDeps } from "../delivery/domain/send.ts";

/** Dependencies of mails, and tokens of their links. */
export interface VerificationDeps
  extends DeliveryDeps, WriteDeps, WithRedis, WithTokens, WithEnqueue {}
