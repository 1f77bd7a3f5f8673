import type { Adapter } from "../contract.ts";

/** Adapters by the game they read. A game without one is read from envelope files. */
export const adapters: readonly Adapter[] = [];
