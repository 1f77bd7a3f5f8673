import { add, icon, pascal, primary, ref, tag, text, type Dataset } from "./dataset.ts";
import {
  classRows,
  emotes,
  perks,
  skills,
  spells,
  type ClassRow,
  type SkillRow,
} from "./class-table.ts";
import { localized } from "./items.ts";

const values = [
  "Strength",
  "Vigor",
  "Agility",
  "Dexterity",
  "Will",
  "Knowledge",
  "Resourcefulness",
];
const night = "#1b2230";
const folder = "PlayerCharacter/PlayerCharacter";

export const className = (row: string) => `Id_PlayerCharacter_${row}`;

const everybody = emotes
  .filter(([, , row]) => row === null)
  .map(([en]) => ref("Emote/Emote", `Id_Emote_${pascal(en)}`));

export function addClasses(dataset: Dataset): void {
  for (const row of classRows) {
    addClass(dataset, row, false);
    addClass(dataset, row, true);
  }
  addSkills(dataset, "Skill", skills);
  addSkills(dataset, "Spell", spells);
  for (const [row, en, de, description] of perks) addPerk(dataset, row, en, de, description);
  for (const [en, de, row] of emotes)
    add(dataset, "Emote/Emote", `Id_Emote_${pascal(en)}`, {
      IdTag: tag(`Id.Emote.${pascal(en)}`),
      Name: text(dataset, `Text_Emote_${pascal(en)}`, localized(en, de)),
      CanUse: true,
      ...(row === null ? {} : { Classes: [primary("PlayerCharacter", className(row))] }),
      Effects: [ref("Emote/EmoteEffect", `Id_EmoteEffect_${pascal(en)}`)],
    });
  // An asset with all members at their defaults has no Properties.
  for (const [en] of emotes) add(dataset, "Emote/EmoteEffect", `Id_EmoteEffect_${pascal(en)}`);
}

/** Each class also exists as an arena opponent. */
function addClass(dataset: Dataset, row: ClassRow, isArena: boolean): void {
  const [en, de, zh, shape, colour, numbers, story] = row;
  const id = isArena ? `Arena${en}` : en;
  add(dataset, folder, className(id), {
    IdTag: tag(`Id.PlayerCharacter.${id}`),
    Name: text(
      dataset,
      `Text_Class_${id}_Name`,
      isArena ? { en: `Arena ${en}` } : localized(en, de, zh),
    ),
    ...(isArena
      ? {}
      : { FlavorText: text(dataset, `Text_Class_${id}_Flavor`, { en: story }), CanUse: true }),
    ...(en === "Fighter" && !isArena ? { IsDefault: true } : {}),
    // Emotes of all classes; the others name their classes.
    Emotes: isArena ? [] : everybody,
    Effects: [ref("PlayerCharacter/PlayerCharacterEffect", `Id_PlayerCharacterEffect_${id}`)],
    ArtData: icon(dataset, `UI/Icons/Classes/Icon_${id}`, {
      shape,
      ink: isArena ? "#7c8494" : colour,
      ground: night,
    }),
  });
  add(dataset, "PlayerCharacter/PlayerCharacterEffect", `Id_PlayerCharacterEffect_${id}`, {
    ...Object.fromEntries(values.map((value, at) => [`${value}Base`, numbers[at]])),
    MoveSpeedBase: 300 - (isArena ? 15 : 0),
  });
}

function addSkills(dataset: Dataset, system: "Skill" | "Spell", rows: readonly SkillRow[]): void {
  for (const [row, en, de, sort, tier, seconds, description] of rows) {
    const id = pascal(en);
    add(dataset, `${system}/${system}`, `Id_${system}_${id}`, {
      IdTag: tag(`Id.${system}.${id}`),
      Name: text(dataset, `Text_${system}_${id}_Name`, localized(en, de)),
      [system === "Skill" ? "DescData" : "Desc"]: text(dataset, `Text_${system}_${id}_Desc`, {
        en: description,
      }),
      [`${system}Type`]: tag(`Type.${system}.${sort}`),
      [`${system}Tier`]: tier,
      ...(system === "Skill"
        ? { Cooldown: seconds }
        : { CastingTime: seconds, MaxCount: 8 - tier }),
      CanUse: true,
      Classes: [primary("PlayerCharacter", className(row))],
      Abilities: [ref(`${system}/${system}Ability`, `Id_${system}Ability_${id}`)],
      Effects: [ref(`${system}/${system}Effect`, `Id_${system}Effect_${id}`)],
      ArtData: icon(dataset, `UI/Icons/${system}s/Icon_${id}`, {
        ...lookOf(row),
        shape: shapeOf(sort),
      }),
    });
    add(dataset, `${system}/${system}Ability`, `Id_${system}Ability_${id}`, {
      Name: text(dataset, `Text_${system}_${id}_Name`, localized(en, de)),
    });
    add(dataset, `${system}/${system}Effect`, `Id_${system}Effect_${id}`, {
      Duration: seconds * 2,
    });
  }
}

function addPerk(
  dataset: Dataset,
  row: string,
  en: string,
  de: string | null,
  description: string,
) {
  const id = pascal(en);
  add(dataset, "Perk/PerkAbility", `Id_PerkAbility_${id}`, {
    Name: text(dataset, `Text_Perk_${id}_Name`, localized(en, de)),
  });
  add(dataset, "Perk/Perk", `Id_Perk_${id}`, {
    IdTag: tag(`Id.Perk.${id}`),
    Name: text(dataset, `Text_Perk_${id}_Name`, localized(en, de)),
    DescData: text(dataset, `Text_Perk_${id}_Desc`, { en: description }),
    CanUse: true,
    Classes: [primary("PlayerCharacter", className(row))],
    Abilities: [ref("Perk/PerkAbility", `Id_PerkAbility_${id}`)],
    ArtData: icon(dataset, `UI/Icons/Perks/Icon_${id}`, { ...lookOf(row), shape: "star" }),
  });
}

const lookOf = (row: string) => ({
  ink: classRows.find(([en]) => en === row)?.[4] ?? "#d7dae0",
  ground: night,
});

const shapes: Readonly<Record<string, string>> = {
  Instant: "spark",
  Channeling: "hourglass",
  Toggle: "rune",
  Arcane: "rune",
  Divine: "sun",
  Evil: "skull",
  Song: "lute",
  Nature: "herb",
};

const shapeOf = (sort: string) => shapes[sort] ?? "spark";
