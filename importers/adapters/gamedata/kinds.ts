import { snakeCase } from "../../../server/platform/text/snake-case.ts";

/** The entity type of one upstream folder `<System>/<Kind>`. */
export interface Kind {
  type: string;
  /** Upstream property -> name in `data`, if it is not the snake case (shapes.ts). */
  rename?: Readonly<Record<string, string>>;
  /** Members that only the folder name expresses. */
  set?: Readonly<Record<string, string>>;
}

const described = { Desc: "description", DescData: "description", GreetingText: "description" };
const named = (type: string, rename: Kind["rename"] = {}): Kind => ({
  type,
  rename: { ...described, ...rename },
});

/** Folders with another type name or other property names than the snake case. */
const known: Readonly<Record<string, Kind>> = {
  "Monster/MonsterAbility": named("monster_ability"),
  "Monster/MonsterEffect": named("monster_effect"),
  "PlayerCharacter/PlayerCharacter": named("class"),
  "PlayerCharacter/PlayerCharacterEffect": named("class_effect"),
  "Spell/Spell": named("spell", { SpellTag: "spell_type" }),
  "Dungeon/DungeonModule": named("module"),
  "TriumphLevel/TriumphLevel": named("triumph"),
};

/** Families of folders; the part in brackets becomes a member. */
const families: readonly [pattern: RegExp, make: (part: string) => Kind][] = [
  [
    /^Quest\/QuestContent([A-Z]\w*)$/,
    (part) => ({ ...named("quest_content"), set: { content_type: part } }),
  ],
  [/^Shop\/Shop(\w+)$/, (part) => ({ ...named("shop_entry"), set: { entry_type: part } })],
  [
    /^Workshop\/Workshop(Craft|Rebuild|Enhance|Scrap)$/,
    (part) => ({ ...named("workshop_service"), set: { service_type: part } }),
  ],
  [/^\w+\/\w+Ability$/, () => named("ability")],
  [/^\w+\/\w+Effect$/, () => named("effect")],
];

/** Path segments of the interface, which are no valid types (COD-16). */
const reserved = new Set(["manifest", "patches", "diff", "changelog"]);

/** The kind of a folder; an unknown folder keeps its own name. */
export function kindOf(folder: string): Kind {
  const exact = Object.hasOwn(known, folder) ? known[folder] : undefined;
  if (exact) return exact;
  for (const [pattern, make] of families) {
    const part = pattern.exec(folder);
    if (part) return make(part[1] ?? "");
  }
  const name = snakeCase(folder.split("/").at(-1) ?? "").replace(/^[^a-z]+/, "");
  return named(name === "" || reserved.has(name) ? `upstream_${name}` : name);
}

/** Names of a type in references, if they differ from the type. */
const aliases: readonly [pattern: RegExp, type: string][] = [
  [/^player_character$/, "class"],
  [/^player_character_effect$/, "class_effect"],
  [/^dungeon_module$/, "module"],
  [/^triumph_level$/, "triumph"],
  [/^quest_content_/, "quest_content"],
  [/^shop_/, "shop_entry"],
  [/^workshop_(?:craft|rebuild|enhance|scrap)$/, "workshop_service"],
  [/^(?!monster_).+_ability$/, "ability"],
  [/^(?!monster_|class_).+_effect$/, "effect"],
];

/** `DesignDataPlayerCharacter`, `DCItemDataAsset` -> type. */
export function typeOfName(name: string): string {
  const bare = name.replace(/^(?:DesignData|DC)(?=[A-Z])/, "").replace(/DataAsset$/, "");
  const type = snakeCase(bare);
  return aliases.find(([pattern]) => pattern.test(type))?.[1] ?? type;
}
