import { add, pascal, primary, ref, tag, tags, text, type Dataset } from "./dataset.ts";
import { creatures } from "./creatures.ts";
import { itemName, localized } from "./items.ts";
import { chapters, type Objective, type Prize, type Quest } from "./quest-table.ts";
import { merchantRef } from "./town.ts";

const nameOf = ([title, , , , , modifier]: Quest) =>
  `Id_Quest_${modifier === null ? "" : `${modifier[0]?.toUpperCase()}${modifier.slice(1)}_`}${pascal(title)}`;

export function addQuests(dataset: Dataset): void {
  for (const [order, [merchant, title, quests]] of chapters.entries()) {
    const id = pascal(title);
    add(dataset, "Quest/QuestChapter", `Id_QuestChapter_${id}`, {
      Name: text(dataset, `Text_QuestChapter_${id}`, { en: title }),
      Order: order + 1,
      MerchantId: merchantRef(merchant),
      Quests: quests.map((quest) => ref("Quest/Quest", nameOf(quest))),
    });
    // A quest with a modifier is not part of the chain.
    const line = quests.filter(([, , , , , modifier]) => modifier === null);
    for (const quest of quests)
      addQuest(dataset, merchant, quest, line[line.indexOf(quest) - 1] ?? null);
  }
}

function addQuest(dataset: Dataset, merchant: string, quest: Quest, before: Quest | null): void {
  const [title, de, greeting, thanks, rank, , objectives, prizes] = quest;
  const id = pascal(title);
  const contents = objectives.map((one, at) => addObjective(dataset, `${id}_${at + 1}`, one));
  add(dataset, "Quest/QuestReward", `Id_QuestReward_${id}`, {
    RewardItemArray: prizes.map((prize) => rewardOf(prize, merchant)),
  });
  add(dataset, "Quest/Quest", nameOf(quest), {
    TitleText: text(dataset, `Text_Quest_${id}_Title`, localized(title, de)),
    GreetingText: text(dataset, `Text_Quest_${id}_Greeting`, { en: greeting }),
    ...(thanks === null
      ? {}
      : { CompleteText: text(dataset, `Text_Quest_${id}_Complete`, { en: thanks }) }),
    ...(before === null ? {} : { RequiredQuest: ref("Quest/Quest", nameOf(before)) }),
    ...(rank === 0 ? {} : { RequiredLevel: rank }),
    QuestContents: contents,
    QuestReward: ref("Quest/QuestReward", `Id_QuestReward_${id}`),
  });
}

type Members = Record<string, unknown>;

/** Members of an objective, by kind. */
const tasks: Readonly<Record<string, (what: string) => Members>> = {
  Explore: (what) => ({ ModuleId: moduleRef(what) }),
  Hold: (what) => ({ ModuleId: moduleRef(what), HoldTime: 90, MustEscape: true }),
  Kill: (what) => ({
    KillTag: tag(creatures.some(([en]) => en === what) ? `Id.Monster.${pascal(what)}` : what),
  }),
  Fetch: (what) => ({
    ItemIdTag: tag(`Id.Item.${pascal(what)}`),
    ItemLootState: "EItemLootState::Looted",
  }),
  FetchRare: (what) => ({
    ItemType: `EItemType::${what}`,
    RarityType: tag("Type.Item.Rarity.Rare"),
    ItemLootState: "EItemLootState::Looted",
  }),
  UseItem: (what) => ({ ItemIdTag: tag(`Id.Item.${pascal(what)}`) }),
  Props: (what) => ({
    PropsIdTag: tag(`Id.Props.${pascal(what)}`),
    PropsType: tag("Type.Props.Container"),
  }),
  Damage: (what) => ({ DamageType: tag(`Type.Damage.${what}`) }),
  Escape: (what) => (what === "" ? {} : { ConsecutiveEscape: true }),
};

function addObjective(dataset: Dataset, id: string, [kind, count, what, where]: Objective) {
  const folder = `Quest/QuestContent${kind === "FetchRare" ? "Fetch" : kind}`;
  const name = `Id_QuestContent_${id}`;
  add(dataset, folder, name, {
    ...(count === 1 ? {} : { ContentCount: count }),
    ...tasks[kind]?.(what),
    ...(where === undefined ? {} : { DungeonIdTags: tags(`Id.Dungeon.${where}`) }),
  });
  return ref(folder, name);
}

const moduleRef = (name: string) =>
  ref("Dungeon/DungeonModule", `Id_DungeonModule_${pascal(name)}`);

function rewardOf([type, count, what = ""]: Prize, merchant: string): Members {
  const known: Readonly<Record<string, () => unknown>> = {
    Item: () => primary("Item", itemName(what)),
    Random: () => primary("RandomReward", `Id_RandomReward_${what}`),
    Emote: () => primary("Emote", `Id_Emote_${pascal(what)}`),
    Affinity: () => primary("Merchant", `Id_Merchant_${pascal(merchant)}`),
    Action: () => primary("ActionSkin", `Id_ActionSkin_${pascal(what)}`),
  };
  const target =
    known[type] ?? (what === "" ? null : () => primary(type, `Id_${type}_${pascal(what)}`));
  return {
    RewardType: `EQuestRewardType::${type}`,
    ...(target === null ? {} : { RewardId: target() }),
    RewardCount: count,
  };
}
