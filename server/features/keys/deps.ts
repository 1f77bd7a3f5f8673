import type { WithClock, WithEm, WithLog } from "../../platform/capabilities.ts";

export interface KeyDeps extends WithEm, WithClock, WithLog {}
