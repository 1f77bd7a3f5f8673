/** [upstream kind, its members] */
export type Objective = readonly [kind: string, number: number, what: string, where?: string];
/** [reward, number, item] */
export type Prize = readonly [type: string, count: number, what?: string];

/** [title, German, request, completion text, rank, name modifier, objectives, rewards] */
export type Quest = readonly [
  title: string,
  de: string | null,
  greeting: string,
  thanks: string | null,
  rank: number,
  modifier: string | null,
  objectives: readonly Objective[],
  prizes: readonly Prize[],
];

/** Chapters by merchant; each quest needs the one before it. */
export const chapters: readonly (readonly [
  merchant: string,
  title: string,
  quests: readonly Quest[],
])[] = [
  [
    "Lanternkeeper",
    "Keepers of the Light",
    [
      [
        "First Light",
        "Erstes Licht",
        "The stairs are dark and I am old. Bring the light down as far as the well, and come back to tell me it still burns.",
        "It burns, then. Good. So do you.",
        0,
        null,
        [["Explore", 1, "Well of Ash"]],
        [
          ["Exp", 50],
          ["Item", 2, "Torch"],
        ],
      ],
      [
        "Moths to a Flame",
        "Motten ums Licht",
        "Something eats my lanterns. It has wings, and too many of them. Put five of them out.",
        "Five fewer shadows on the wall.",
        0,
        null,
        [["Kill", 5, "Lantern Moth"]],
        [
          ["Exp", 80],
          ["Affinity", 10],
        ],
      ],
      [
        "Oil for the Dark",
        "Öl für das Dunkel",
        "No oil, no light. No light, no keeper. Three flasks from the Sunken Halls, unbroken.",
        null,
        3,
        null,
        [["Fetch", 3, "Oil Flask", "SunkenHalls"]],
        [
          ["Item", 1, "Campfire Kit"],
          ["Random", 1, "Utility_Uncommon_01"],
        ],
      ],
      [
        "The Long Watch",
        "Die lange Wacht",
        "Light the brazier in the ruined chapel and stay with it. They will come. Stay anyway.",
        "I saw it from the gate. I had forgotten how far it shines.",
        8,
        null,
        [
          ["Hold", 1, "Ruined Chapel"],
          ["Escape", 1, ""],
        ],
        [
          ["Exp", 400],
          ["AdventurePoints", 25],
          ["Emote", 1, "Raise Lantern"],
        ],
      ],
    ],
  ],
  [
    "Huntress",
    "The Count",
    [
      [
        "By the Pair",
        "Immer paarweise",
        "The guild pays for ears. Two goblins have four. I will take six.",
        "Left, right, left, right, left… what is this, an onion?",
        0,
        null,
        [["Fetch", 6, "Goblin Ear"]],
        [
          ["Exp", 70],
          ["Item", 15, "Gold Coin"],
        ],
      ],
      [
        "Hounds of Ash",
        "Aschehunde",
        "They hunt in threes. Kill three, and you have killed one pack.",
        null,
        4,
        null,
        [["Kill", 3, "Ash Hound", "Crypts"]],
        [
          ["Exp", 150],
          ["Affinity", 15],
        ],
      ],
      [
        "What the Golem Kept",
        "Was der Golem behielt",
        "Its heart stays warm for an hour after. I need it warm.",
        "Careful, careful. Yes. Listen to it tick.",
        10,
        null,
        [
          ["Fetch", 1, "Ember Heart"],
          ["Kill", 1, "Cinder Golem"],
        ],
        [
          ["Exp", 600],
          ["Random", 1, "Weapon_Rare_01"],
        ],
      ],
      [
        "Daily Bounty: Ghouls",
        "Tägliches Kopfgeld: Ghule",
        "Fingers today. Eight of them, any hand.",
        null,
        0,
        "daily",
        [["Fetch", 8, "Ghoul Finger"]],
        [
          ["Exp", 60],
          ["Affinity", 5],
        ],
      ],
      [
        "Weekly Bounty: Trolls",
        "Wöchentliches Kopfgeld: Trolle",
        "Two trolls. You have a week. They have clubs.",
        null,
        6,
        "weekly",
        [["Kill", 2, "Cave Troll"]],
        [
          ["Exp", 500],
          ["Item", 1, "Ruby"],
        ],
      ],
    ],
  ],
  [
    "Alchemist",
    "Roots and Remedies",
    [
      [
        "Where Fire Has Been",
        "Wo Feuer war",
        "Emberroot grows only in burnt ground. You will find no shortage of that below.",
        "Smell that? Neither do I, any more.",
        0,
        null,
        [["Fetch", 5, "Emberroot"]],
        [
          ["Item", 2, "Healing Draught"],
          ["Exp", 60],
        ],
      ],
      [
        "A Question of Dose",
        "Eine Frage der Dosis",
        "Drink three of these and come back. If you come back, we have the dose.",
        "Fascinating. Your eyes were another colour.",
        2,
        null,
        [["UseItem", 3, "Healing Draught"]],
        [
          ["Exp", 90],
          ["Affinity", 10],
        ],
      ],
      [
        "Gravecap Soup",
        "Grabhutsuppe",
        "Ten caps, and do not ask what they grew on.",
        null,
        5,
        null,
        [
          ["Fetch", 10, "Gravecap", "Crypts"],
          ["Props", 2, "Burial Urn"],
        ],
        [
          ["Item", 1, "Potion of Sight"],
          ["Affinity", 20],
        ],
      ],
      [
        "Bitter Medicine",
        "Bittere Medizin",
        "Wound them with fire. I must see how they burn before I can say what they were.",
        "So they still feel it. Hm.",
        9,
        null,
        [["Damage", 2000, "Fire"]],
        [
          ["Exp", 450],
          ["ItemSkin", 1, "Charred Shield"],
        ],
      ],
    ],
  ],
  [
    "Gravedigger",
    "Unfinished Business",
    [
      [
        "Lie Still",
        "Bleib liegen",
        "I bury them. They do not stay buried. Remind ten of them how it is done.",
        null,
        0,
        null,
        [["Kill", 10, "Type.Monster.Character.Undead"]],
        [["Exp", 120]],
      ],
      [
        "The Warden's Keys",
        "Die Schlüssel des Wärters",
        "The warden drowned with every key but one. Bring him up, or at least the ring.",
        "One is missing. One is always missing.",
        7,
        null,
        [["Kill", 1, "Drowned Warden", "SunkenHalls"]],
        [
          ["Exp", 350],
          ["Stash", 1],
        ],
      ],
      [
        "An Audience",
        "Eine Audienz",
        "He has sat on that throne for two hundred years. Somebody ought to tell him it is over.",
        "Then that is that. Help me with the crown. No, do not put it on.",
        15,
        null,
        [
          ["Kill", 1, "The Hollow King", "Throne"],
          ["Escape", 1, ""],
        ],
        [
          ["Exp", 1500],
          ["CharacterSkin", 1, "Ashen Fighter"],
          ["AdventurePoints", 100],
        ],
      ],
    ],
  ],
  [
    "Weaponsmith",
    "Edges",
    [
      [
        "Blunt Instruments",
        "Stumpfe Werkzeuge",
        "Bring me iron. I will bring you the rest.",
        null,
        0,
        null,
        [["Fetch", 5, "Iron Ore"]],
        [
          ["Exp", 40],
          ["Item", 1, "Iron Ingot"],
        ],
      ],
      [
        "A Rare Edge",
        "Eine seltene Schneide",
        "A rare blade, from below, carried out by the hand that took it. Any kind. I only want to look.",
        "Beautiful. Terrible. Take it away.",
        6,
        null,
        [["FetchRare", 1, "Weapon"]],
        [
          ["Exp", 250],
          ["Affinity", 25],
          ["ArmorSkin", 1, "Midwinter Plate"],
        ],
      ],
      [
        "Season of the Hammer",
        "Zeit des Hammers",
        "This season the guild counts hammers. Show them a few.",
        null,
        0,
        "seasonal",
        [["Kill", 25, "Type.Monster.Class.Normal"]],
        [
          ["NameplateSkin", 1, "Ember Frame"],
          ["Action", 1, "Slow Draw"],
        ],
      ],
    ],
  ],
  [
    "Tavern Keeper",
    "House Rules",
    [
      [
        "Come Back Alive",
        "Komm lebend zurück",
        "Go down. Come up. That is all. You would be surprised.",
        "One for the slate, and one for coming back.",
        0,
        "tuto",
        [["Escape", 1, ""]],
        [
          ["Exp", 25],
          ["Item", 3, "Dried Trout"],
        ],
      ],
      [
        "Three in a Row",
        null,
        "Three times without being carried. The house pays if you do; you pay if you do not.",
        null,
        5,
        null,
        [["Escape", 3, "row"]],
        [
          ["Exp", 300],
          ["None", 1],
        ],
      ],
    ],
  ],
];
