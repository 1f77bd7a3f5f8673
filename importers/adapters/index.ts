import type { Adapter } from "../contract.ts";
import { gamedata } from "./gamedata/adapter.ts";
import { minecraft } from "./minecraft/adapter.ts";

/** Adapters by the game they read. A game without one is read from envelope files. */
export const adapters: readonly Adapter[] = [gamedata, minecraft];
