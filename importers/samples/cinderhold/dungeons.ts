import { add, icon, pascal, ref, tag, text, type Dataset } from "./dataset.ts";
import { creatures } from "./creatures.ts";
import { localized } from "./items.ts";
import { monsterName } from "./monsters.ts";
import { dungeons, modes, props } from "./places.ts";

const gradeNames = ["Easy", "Normal", "HighRoller"];
const cardName = (tag: string, mode: string) => `Id_DungeonCard_${tag}_${mode}`;
const layoutName = (tag: string, module: string) => `Id_DungeonLayout_${tag}_${pascal(module)}`;
const gradeName = (tag: string, tier: number) => `Id_DungeonGrade_${tag}_${tier}`;

export function addDungeons(dataset: Dataset): void {
  for (const [en, de] of props)
    add(dataset, "Props/Props", `Id_Props_${pascal(en)}`, {
      IdTag: tag(`Id.Props.${pascal(en)}`),
      Name: text(dataset, `Text_Props_${pascal(en)}`, localized(en, de)),
    });
  for (const [at, dungeon] of dungeons.entries()) {
    addDungeon(dataset, dungeon);
    addParts(dataset, dungeon, at + 1);
    addSpawners(dataset, dungeon, at);
  }
}

type Dungeon = (typeof dungeons)[number];

function addDungeon(dataset: Dataset, [id, en, de, zh, description, rank, modules]: Dungeon): void {
  add(dataset, "Dungeon/Dungeon", `Id_Dungeon_${id}`, {
    IdTag: tag(`Id.Dungeon.${id}`),
    Name: text(dataset, `Text_Dungeon_${id}_Name`, localized(en, de, zh)),
    Desc: text(dataset, `Text_Dungeon_${id}_Desc`, { en: description }),
    DungeonGrades: gradeNames.map((_, tier) =>
      ref("Dungeon/DungeonGrade", gradeName(id, tier + 1)),
    ),
    DungeonLayouts: modules.map((one) => ref("Dungeon/DungeonLayout", layoutName(id, one))),
    DungeonCards: modes.map(([mode]) => ref("Dungeon/DungeonCard", cardName(id, mode))),
    ...(rank === 0 ? {} : { RequiredAdventureRank: rank }),
    bFogEnabled: id === "SunkenHalls",
    ArtData: icon(dataset, `UI/Icons/Dungeons/Icon_${id}`, {
      shape: "gate",
      ink: "#c9a27a",
      ground: "#191c22",
    }),
  });
}

function addParts(dataset: Dataset, [id, en, , , , , modules]: Dungeon, floor: number): void {
  for (const [at, name] of gradeNames.entries())
    add(dataset, "Dungeon/DungeonGrade", gradeName(id, at + 1), {
      Name: text(dataset, `Text_DungeonGrade_${id}_${at + 1}`, { en: `${en}: ${name}` }),
      DungeonIdTag: tag(`Id.Dungeon.${id}`),
      GearPoolIndex: at + 1,
    });
  for (const [mode, gameType] of modes)
    add(dataset, "Dungeon/DungeonCard", cardName(id, mode), {
      Name: text(dataset, `Text_DungeonCard_${id}_${mode}`, { en: `${en} (${mode})` }),
      GameType: `EGameType::${gameType}`,
    });
  for (const name of modules) {
    const module = `Id_DungeonModule_${pascal(name)}`;
    add(dataset, "Dungeon/DungeonModule", module, {
      Name: text(dataset, `Text_Module_${pascal(name)}`, { en: name }),
      ModuleType: tag(`Type.Module.${name.includes("Throne") ? "Boss" : "Room"}`),
      Size: { X: 2, Y: 2 },
    });
    add(dataset, "Dungeon/DungeonLayout", layoutName(id, name), {
      Name: text(dataset, `Text_Module_${pascal(name)}`, { en: name }),
      Floor: floor,
      ModuleId: ref("Dungeon/DungeonModule", module),
    });
  }
}

/** For each dungeon: two creatures, a chest, an urn, and an empty spawner. */
function addSpawners(dataset: Dataset, [id]: Dungeon, at: number): void {
  const name = (what: string) => `Id_Spawner_${id}_${what}`;
  const spawner = (what: string, ...entries: Record<string, unknown>[]) =>
    add(dataset, "Spawner/Spawner", name(what), { SpawnerItemArray: entries });
  const ordinary = creatures.filter(([, , , , rank]) => rank !== "Boss");
  for (const step of [0, 1, 2]) {
    const [en = ""] = ordinary[(at * 3 + step) % ordinary.length] ?? [];
    spawner(
      pascal(en),
      {
        SpawnRate: 8000,
        DungeonGrades: [1, 2],
        MonsterId: ref("Monster/Monster", monsterName(en, "Common")),
      },
      {
        SpawnRate: 2000,
        DungeonGrades: [2, 3],
        MonsterId: ref("Monster/Monster", monsterName(en, "Elite")),
      },
    );
  }
  spawner(
    "Chest",
    {
      SpawnRate: 9000,
      LootDropGroupId: ref("LootDrop/LootDropGroup", `ID_LootDropGroup_Chest_${id}`),
    },
    { SpawnRate: 1000 },
  );
  spawner("Urn", { SpawnRate: 10000, PropsId: ref("Props/Props", "Id_Props_BurialUrn") });
  add(dataset, "Spawner/Spawner", name("Quiet"));
}
