import type { WithClock, WithEm } from "../../platform/capabilities.ts";

export interface TeamDeps extends WithEm, WithClock {}
