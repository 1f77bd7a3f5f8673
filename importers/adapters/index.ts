import type { Adapter } from "../contract.ts";
import { minecraft } from "./minecraft/adapter.ts";

/** Adapters by the game they read. A game without one is read from envelope files. */
export const adapters: readonly Adapter[] = [minecraft];
