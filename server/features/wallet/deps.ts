import type { WithClock, WithEm } from "../../platform/capabilities.ts";

export interface WalletDeps extends WithEm, WithClock {}
