import type { WithConfig, WithEm } from "../../platform/capabilities.ts";

/** What the inbox of a developer takes; sending has `DeliveryDeps` in `domain/deliver.ts`. */
export interface InboxDeps extends WithEm, WithConfig {}
