/** [name in tags, digits of asset names, German, Chinese, colour] from common to rare. */
export const rarities = [
  ["Poor", 1001, "Schäbig", "劣质", "#8a8f98"],
  ["Common", 2001, "Gewöhnlich", "普通", "#d7dae0"],
  ["Uncommon", 3001, "Ungewöhnlich", "优秀", "#62b360"],
  ["Rare", 4001, "Selten", "稀有", "#4a90d9"],
  ["Epic", 5001, "Episch", "史诗", "#a86fd6"],
  ["Legendary", 6001, "Legendär", "传说", "#f0a64b"],
  ["Unique", 7001, "Einzigartig", "独特", "#e4d296"],
  ["Artifact", 8001, "Artefakt", null, "#d95e5e"],
] as const;

export type RarityName = (typeof rarities)[number][0];

/** Rank of a rarity, from 0. */
export const rankOf = (name: string) => rarities.findIndex(([one]) => one === name);

export const colourOf = (name: string): string => rarities[rankOf(name)]?.[4] ?? "#d7dae0";
export const digitsOf = (name: string): number => rarities[rankOf(name)]?.[1] ?? 0;
