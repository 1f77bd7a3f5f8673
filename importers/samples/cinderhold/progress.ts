import { add, icon, pascal, ref, tag, text, type Dataset } from "./dataset.ts";
import { skills } from "./class-table.ts";
import { localized } from "./items.ts";
import { monsterName } from "./monsters.ts";

/** [category, English, German, condition] */
const feats: readonly (readonly [string, string, string | null, string])[] = [
  ["Arena", "First Blood in the Sand", "Erstes Blut im Sand", "Win a bout in the arena."],
  ["Arena", "Unbroken", null, "Win five bouts in a row."],
  ["Class", "Student of Steel", "Schüler des Stahls", "Reach rank ten with a fighter."],
  ["Class", "Keeper of the Flame", "Hüter der Flamme", "Reach rank ten with an emberwright."],
  [
    "Community",
    "Good Company",
    "Gute Gesellschaft",
    "Return with two companions, all on their feet.",
  ],
  ["Coreplay", "Down and Up Again", "Hinab und wieder hinauf", "Escape from the outer crypts."],
  ["Coreplay", "The Deep Breath", null, "Escape from the sunken halls without surfacing."],
  ["Coreplay", "Regicide", "Königsmord", "Defeat the Hollow King."],
  ["Event", "Midwinter Guest", "Mittwintergast", "Bring a gift to the tavern at midwinter."],
  ["Feat", "Nine Lives", "Neun Leben", "Escape with one point of health."],
  ["Feat", "By Candlelight", null, "Clear a floor without a torch."],
  [
    "Highroller",
    "House Always Loses",
    "Die Bank verliert",
    "Escape a high roller run with a unique item.",
  ],
  ["Item", "Collector of Crowns", "Kronensammler", "Own the Hollow Crown for a day."],
  ["Item", "Sharp Eye", null, "Identify a hundred items."],
];

/** [creature, tier, offering] */
const bargains: readonly (readonly [string, string, number, string])[] = [
  ["Crypt Ghoul", "Elite", 1, "Hunger, and what it makes possible."],
  ["Ember Wisp", "Elite", 1, "Light feet for a short shadow."],
  ["Living Armor", "Elite", 2, "Stand still, and nothing hurts."],
  ["Cave Troll", "Elite", 2, "Wounds close. So does the mind."],
  ["Drowned Warden", "Nightmare", 3, "Every door opens. Water follows."],
  ["The Hollow King", "Nightmare", 4, "They kneel. You may not stand."],
];

export function addProgress(dataset: Dataset): void {
  const numbers = new Map<string, number>();
  for (const [at, [category, en, de, description]] of feats.entries()) {
    const number = (numbers.get(category) ?? 0) + 1;
    numbers.set(category, number);
    // The names of these assets have no `Id_`.
    add(dataset, "Achievement/Achievement", `Achievement_${category}_0${number}`, {
      Enable: true,
      ListingOrder: at + 1,
      MainCategory: `EAchievementCategory::${category}`,
      Name: text(dataset, `Text_Achievement_${pascal(en)}_Name`, localized(en, de)),
      Description: text(dataset, `Text_Achievement_${pascal(en)}_Desc`, { en: description }),
      SequenceGroup: category,
      SequenceGroupOrder: number,
      ArtData: icon(dataset, `UI/Icons/Achievements/Icon_${category}`, {
        shape: "star",
        ink: "#e4c670",
        ground: "#2a2430",
      }),
    });
  }
  for (let rank = 0; rank <= 20; rank++)
    add(dataset, "TriumphLevel/TriumphLevel", `Id_TriumphLevel_Rank_${rank}`, {
      Name: text(dataset, `Text_Triumph_${rank}`, {
        en: `Adventure rank ${rank}`,
        de: `Abenteuerrang ${rank}`,
      }),
      // The last rank leads nowhere.
      ...(rank === 20 ? {} : { ExpForNextLevel: 100 + rank * rank * 25 }),
      ...(rank === 0 ? {} : { TotalExp: totalUpTo(rank) }),
    });
  for (const [at, [creature, grade, tier, offer]] of bargains.entries())
    add(dataset, "FaustianBargain/FaustianBargain", `Id_FaustianBargain_${pascal(creature)}`, {
      IdTag: tag(`Id.FaustianBargain.${pascal(creature)}`),
      Name: text(dataset, `Text_Bargain_${pascal(creature)}`, { en: `Bargain: ${creature}` }),
      Desc: text(dataset, `Text_Bargain_${pascal(creature)}_Desc`, { en: offer }),
      MonsterId: ref("Monster/Monster", monsterName(creature, grade)),
      RequiredAffinity: tier,
      Skills: [ref("Skill/Skill", `Id_Skill_${pascal(skills[at]?.[1] ?? "")}`)],
      Effects: [ref("Monster/MonsterEffect", `Id_MonsterEffect_${pascal(creature)}_${grade}`)],
    });
}

function totalUpTo(rank: number): number {
  let total = 0;
  for (let at = 0; at < rank; at++) total += 100 + at * at * 25;
  return total;
}
