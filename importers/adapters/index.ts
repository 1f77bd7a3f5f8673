import type { Adapter } from "./adapter.ts";
import { dota } from "./dota/adapter.ts";
import { gamedata } from "./gamedata/adapter.ts";
import { minecraft } from "./minecraft/adapter.ts";

/** Adapters by the game they read. A game without one is read from envelope files. */
export const adapters: readonly Adapter[] = [dota, gamedata, minecraft];
