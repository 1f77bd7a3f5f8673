import type { WithClock, WithEm } from "../../platform/capabilities.ts";

export interface ProgressDeps extends WithEm, WithClock {}
