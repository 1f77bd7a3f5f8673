import { add, icon, pascal, primary, ref, tag, text, type Book } from "./book.ts";
import { callings, emotes, perks, skills, spells, type Calling, type Craft } from "./callings.ts";
import { said } from "./items.ts";

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

export const className = (calling: string) => `Id_PlayerCharacter_${calling}`;

const everybody = emotes
  .filter(([, , calling]) => calling === null)
  .map(([en]) => ref("Emote/Emote", `Id_Emote_${pascal(en)}`));

export function addClasses(book: Book): void {
  for (const calling of callings) {
    addClass(book, calling, false);
    addClass(book, calling, true);
  }
  addCrafts(book, "Skill", skills);
  addCrafts(book, "Spell", spells);
  for (const [calling, en, de, description] of perks) addPerk(book, calling, en, de, description);
  for (const [en, de, calling] of emotes)
    add(book, "Emote/Emote", `Id_Emote_${pascal(en)}`, {
      IdTag: tag(`Id.Emote.${pascal(en)}`),
      Name: text(book, `Text_Emote_${pascal(en)}`, said(en, de)),
      CanUse: true,
      ...(calling === null ? {} : { Classes: [primary("PlayerCharacter", className(calling))] }),
      Effects: [ref("Emote/EmoteEffect", `Id_EmoteEffect_${pascal(en)}`)],
    });
  // An asset whose members all equal their defaults says nothing at all.
  for (const [en] of emotes) add(book, "Emote/EmoteEffect", `Id_EmoteEffect_${pascal(en)}`);
}

/** Each calling also waits in the arena, played by nobody. */
function addClass(book: Book, calling: Calling, isArena: boolean): void {
  const [en, de, zh, shape, colour, numbers, story] = calling;
  const id = isArena ? `Arena${en}` : en;
  add(book, folder, className(id), {
    IdTag: tag(`Id.PlayerCharacter.${id}`),
    Name: text(book, `Text_Class_${id}_Name`, isArena ? { en: `Arena ${en}` } : said(en, de, zh)),
    ...(isArena
      ? {}
      : { FlavorText: text(book, `Text_Class_${id}_Flavor`, { en: story }), CanUse: true }),
    ...(en === "Fighter" && !isArena ? { IsDefault: true } : {}),
    // What everybody knows; what only some do names its classes itself.
    Emotes: isArena ? [] : everybody,
    Effects: [ref("PlayerCharacter/PlayerCharacterEffect", `Id_PlayerCharacterEffect_${id}`)],
    ArtData: icon(book, `UI/Icons/Classes/Icon_${id}`, {
      shape,
      ink: isArena ? "#7c8494" : colour,
      ground: night,
    }),
  });
  add(book, "PlayerCharacter/PlayerCharacterEffect", `Id_PlayerCharacterEffect_${id}`, {
    ...Object.fromEntries(values.map((value, at) => [`${value}Base`, numbers[at]])),
    MoveSpeedBase: 300 - (isArena ? 15 : 0),
  });
}

function addCrafts(book: Book, system: "Skill" | "Spell", crafts: readonly Craft[]): void {
  for (const [calling, en, de, sort, tier, seconds, description] of crafts) {
    const id = pascal(en);
    add(book, `${system}/${system}`, `Id_${system}_${id}`, {
      IdTag: tag(`Id.${system}.${id}`),
      Name: text(book, `Text_${system}_${id}_Name`, said(en, de)),
      [system === "Skill" ? "DescData" : "Desc"]: text(book, `Text_${system}_${id}_Desc`, {
        en: description,
      }),
      [`${system}Type`]: tag(`Type.${system}.${sort}`),
      [`${system}Tier`]: tier,
      ...(system === "Skill"
        ? { Cooldown: seconds }
        : { CastingTime: seconds, MaxCount: 8 - tier }),
      CanUse: true,
      Classes: [primary("PlayerCharacter", className(calling))],
      Abilities: [ref(`${system}/${system}Ability`, `Id_${system}Ability_${id}`)],
      Effects: [ref(`${system}/${system}Effect`, `Id_${system}Effect_${id}`)],
      ArtData: icon(book, `UI/Icons/${system}s/Icon_${id}`, {
        ...lookOf(calling),
        shape: shapeOf(sort),
      }),
    });
    add(book, `${system}/${system}Ability`, `Id_${system}Ability_${id}`, {
      Name: text(book, `Text_${system}_${id}_Name`, said(en, de)),
    });
    add(book, `${system}/${system}Effect`, `Id_${system}Effect_${id}`, { Duration: seconds * 2 });
  }
}

function addPerk(book: Book, calling: string, en: string, de: string | null, description: string) {
  const id = pascal(en);
  add(book, "Perk/PerkAbility", `Id_PerkAbility_${id}`, {
    Name: text(book, `Text_Perk_${id}_Name`, said(en, de)),
  });
  add(book, "Perk/Perk", `Id_Perk_${id}`, {
    IdTag: tag(`Id.Perk.${id}`),
    Name: text(book, `Text_Perk_${id}_Name`, said(en, de)),
    DescData: text(book, `Text_Perk_${id}_Desc`, { en: description }),
    CanUse: true,
    Classes: [primary("PlayerCharacter", className(calling))],
    Abilities: [ref("Perk/PerkAbility", `Id_PerkAbility_${id}`)],
    ArtData: icon(book, `UI/Icons/Perks/Icon_${id}`, { ...lookOf(calling), shape: "star" }),
  });
}

const lookOf = (calling: string) => ({
  ink: callings.find(([en]) => en === calling)?.[4] ?? "#d7dae0",
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
