import type { Resource } from "../resource.ts";
import { classes, emotes, perks, skills, spells } from "./classes.ts";
import { dungeonCards, dungeonGrades, dungeonLayouts, dungeons } from "./dungeons.ts";
import { items } from "./items.ts";
import { lootDropGroups, lootDropRates, lootDrops, spawners } from "./loot.ts";
import { monsters } from "./monsters.ts";
import { achievements, faustianBargains, triumphs } from "./progress.ts";
import { quests } from "./quests.ts";
import { merchants, religions, shops } from "./trade.ts";
import { workshopLevels, workshops, workshopServices, workshopUpgrades } from "./workshops.ts";

/** Every resource of the projection, in the order of the specification. */
export const resources: readonly Resource[] = [
  items,
  monsters,
  classes,
  skills,
  spells,
  perks,
  emotes,
  religions,
  quests,
  merchants,
  shops,
  dungeons,
  dungeonGrades,
  dungeonCards,
  dungeonLayouts,
  spawners,
  achievements,
  triumphs,
  faustianBargains,
  workshops,
  workshopLevels,
  workshopUpgrades,
  workshopServices,
  lootDropGroups,
  lootDrops,
  lootDropRates,
];

export const resourceByType: ReadonlyMap<string, Resource> = new Map(
  resources.map((resource) => [resource.type, resource]),
);
