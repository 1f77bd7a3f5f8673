import { createDataset, type Dataset } from "./dataset.ts";
import { addClasses } from "./classes.ts";
import { addDungeons } from "./dungeons.ts";
import { addItemProperties } from "./item-properties.ts";
import { addItems } from "./items.ts";
import { addLabels } from "./labels.ts";
import { addLoot } from "./loot.ts";
import { addMonsters } from "./monsters.ts";
import { addProgress } from "./progress.ts";
import { addQuests } from "./quests.ts";
import { addTown } from "./town.ts";
import { addWorkshops } from "./workshops.ts";

const chapters = [
  addItems,
  addItemProperties,
  addMonsters,
  addClasses,
  addTown,
  addQuests,
  addDungeons,
  addLoot,
  addProgress,
  addWorkshops,
  addLabels,
];

/** The game at its first patch. */
export function firstWorld(): Dataset {
  const dataset = createDataset();
  for (const chapter of chapters) chapter(dataset);
  return dataset;
}
