import type { WithConfig, WithEm } from "../../platform/capabilities.ts";

export interface RealmDeps extends WithEm, WithConfig {}
