import type { WithConfig, WithEm } from "../../platform/capabilities.ts";

/** Dependencies of the development inbox; sending has `DeliveryDeps` in `domain/deliver.ts`. */
export interface InboxDeps extends WithEm, WithConfig {}
