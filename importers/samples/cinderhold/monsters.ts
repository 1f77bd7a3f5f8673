import { add, icon, pascal, pick, ref, tag, tags, text, type Dataset } from "./dataset.ts";
import { creatures, grades, type Creature } from "./creatures.ts";
import { localized } from "./items.ts";

const elements = ["Fire", "Ice", "Light", "Dark", "Divine", "Evil", "Earth"] as const;
const values = [
  "Strength",
  "Dexterity",
  "Agility",
  "Will",
  "Knowledge",
  "Vigor",
  "Resourcefulness",
];

/** Bosses have no lower grades. */
const gradesOf = ([, , , , rank]: Creature) => (rank === "Boss" ? grades.slice(1) : grades);

export const monsterName = (name: string, grade: string) => `Id_Monster_${pascal(name)}_${grade}`;

export function addMonsters(dataset: Dataset): void {
  const abilities = new Set(creatures.flatMap(([, , , , , , , , names]) => names));
  for (const name of abilities)
    add(dataset, "Monster/MonsterAbility", `Id_MonsterAbility_${pascal(name)}`, {
      Name: text(dataset, `Text_MonsterAbility_${pascal(name)}`, { en: name }),
    });
  for (const creature of creatures)
    for (const grade of gradesOf(creature)) addMonster(dataset, creature, grade);
}

function addMonster(
  dataset: Dataset,
  creature: Creature,
  [grade, , , times]: (typeof grades)[number],
) {
  const [en, de, zh, shape, rank, character, health, colour, abilities, story] = creature;
  const id = pascal(en);
  const effect = `Id_MonsterEffect_${id}_${grade}`;
  add(dataset, "Monster/Monster", monsterName(en, grade), {
    IdTag: tag(`Id.Monster.${id}`),
    Name: text(dataset, `Text_Monster_${id}_Name`, localized(en, de, zh)),
    ...(story === null
      ? {}
      : { FlavorText: text(dataset, `Text_Monster_${id}_Flavor`, { en: story }) }),
    ClassType: tag(`Type.Monster.Class.${rank}`),
    GradeType: tag(`Type.Monster.Grade.${grade}`),
    CharacterTypes: tags(`Type.Monster.Character.${character}`),
    ExpPoint: Math.round((health * times) / 10),
    ...(rank === "Normal" && grade === "Common" ? {} : { AdvPoint: Math.round(times * 4) }),
    Abilities: abilities.map((one) =>
      ref("Monster/MonsterAbility", `Id_MonsterAbility_${pascal(one)}`),
    ),
    Effects: [ref("Monster/MonsterEffect", effect)],
    LootDropGroupId: ref("LootDrop/LootDropGroup", `ID_LootDropGroup_${rank}`),
    ArtData: icon(dataset, `UI/Icons/Monsters/Icon_${id}`, {
      shape,
      ink: colour,
      ground: "#241d1f",
    }),
  });
  add(dataset, "Monster/MonsterEffect", effect, effectOf(creature, times));
}

/** Upstream values: health, the seven attributes, and damage reduction per thousand. */
function effectOf([en, , , , , character, health]: Creature, times: number) {
  const numbers: Record<string, number> = { MaxHealthAdd: Math.round(health * times) };
  for (const value of values)
    numbers[`${value}Base`] = Math.round((8 + pick(`${en} ${value}`, 14)) * Math.sqrt(times));
  for (const element of elements) {
    const reduction = (pick(`${character} ${element}`, 9) - 4) * 250;
    if (reduction !== 0) numbers[`${element}MagicalReduction`] = reduction;
  }
  return numbers;
}
