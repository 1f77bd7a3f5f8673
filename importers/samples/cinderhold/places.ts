/** [tag, English, German, Chinese, description, rank to enter, modules], from the top floor down. */
export const dungeons: readonly (readonly [
  tag: string,
  en: string,
  de: string,
  zh: string | null,
  description: string,
  rank: number,
  modules: readonly string[],
])[] = [
  [
    "Crypts",
    "The Outer Crypts",
    "Die äußeren Grüfte",
    "外围墓穴",
    "Where the keep buried its dead, and where they wait.",
    0,
    ["Well of Ash", "Bone Gallery", "Ruined Chapel"],
  ],
  [
    "SunkenHalls",
    "The Sunken Halls",
    "Die versunkenen Hallen",
    "沉没大厅",
    "The river came in two hundred years ago and never left.",
    5,
    ["Flooded Armoury", "Tide Stairs", "Drowned Library"],
  ],
  [
    "Forge",
    "The Cold Forge",
    "Die kalte Schmiede",
    null,
    "No fire has burned here since the king fell silent. The golems still bring coal.",
    10,
    ["Slag Pits", "Hall of Bellows", "Golem Works"],
  ],
  [
    "Throne",
    "The Hollow Throne",
    "Der hohle Thron",
    "空心王座",
    "There is one door in. There was never one out.",
    15,
    ["Petitioners' Stair", "Throne of Ash"],
  ],
];

/** [suffix, game type, additional rank] */
export const modes = [
  ["Solo", "DungeonSoloNormal", 0],
  ["Trio", "DungeonTrioNormal", 0],
  ["SoloHighRoller", "DungeonSoloHighRoller", 5],
  ["TrioHighRoller", "DungeonTrioHighRoller", 5],
] as const;

/** Props: [English, German] */
export const props = [
  ["Burial Urn", "Urne"],
  ["Iron Chest", "Eisentruhe"],
  ["Gilded Chest", "Vergoldete Truhe"],
  ["Weapon Rack", "Waffenständer"],
  ["Ember Brazier", "Glutbecken"],
] as const;
