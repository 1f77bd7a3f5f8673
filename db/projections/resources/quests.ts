import Type from "typebox";
import { c, equals } from "../columns.ts";
import { defineResource } from "../resource.ts";
import type { Scope } from "../source.ts";
import {
  archetypeOfTag,
  familyOf,
  flagOf,
  idsOf,
  integerOf,
  listOf,
  member,
  objectOf,
  slugOf,
  textOf,
  type Data,
} from "../values.ts";

const MaybeText = Type.Unsafe<string | null>({ type: ["string", "null"] });
const MaybeInteger = Type.Unsafe<number | null>({ type: ["integer", "null"] });

const Objective = Type.Object({
  id: Type.String(),
  content_type: MaybeText,
  content_count: MaybeInteger,
  target_kind: MaybeText,
  target_archetype: MaybeText,
  /** For a wider tag that covers several families: all families that count. */
  target_archetypes: Type.Optional(Type.Array(Type.String())),
  target_tag: MaybeText,
  dungeon_tags: Type.Array(Type.String()),
  rarity: MaybeText,
  item_type: MaybeText,
});

/** Entries of an unknown type also have their own `*_id`. */
const RewardEntry = Type.Object(
  { type: MaybeText, count: MaybeInteger },
  { additionalProperties: Type.Unknown() },
);
const Reward = Type.Object({ id: Type.String(), entries: Type.Array(RewardEntry) });

/** Per kind of target: the property with the target itself, and the property with a wider tag. */
const targets = [
  { kind: "item", family: "item_id_tag", tag: "type_tag" },
  { kind: "monster", family: "kill_tag", tag: "kill_tag" },
  { kind: "monster", family: "monster_id", tag: "kill_type" },
  { kind: "module", family: "module_id", tag: null },
  { kind: "props", family: "props_id_tag", tag: "props_type" },
  { kind: "damage", family: null, tag: "damage_type" },
] as const;

/** The kind of target of content types that have one even without naming a target. */
const kindOfContent: Readonly<Record<string, string>> = {
  fetch: "item",
  use_item: "item",
  kill: "monster",
  explore: "module",
  escape: "module",
  hold: "module",
  props: "props",
  damage: "damage",
};

function familyOfTarget(value: unknown): string | null {
  const text = textOf(value);
  if (text === null) return null;
  return text.startsWith("id.") ? familyOf(text) : archetypeOfTag(text);
}

/**
 * The target of an objective. The content type decides its kind; for other content types, the named target
 * does.
 */
function targetOf(data: Data, contentType: string | null) {
  const wanted = kindOfContent[contentType ?? ""] ?? null;
  const possible = targets.filter(({ kind }) => wanted === null || kind === wanted);
  for (const { kind, family, tag } of possible) {
    const archetype = family === null ? null : familyOfTarget(member(data, family));
    const wider = tag === null ? null : textOf(member(data, tag));
    const targetTag = archetype !== null && tag === family ? null : wider;
    if (archetype !== null || targetTag !== null)
      return { target_kind: kind, target_archetype: archetype, target_tag: targetTag };
  }
  // `type_tag` applies to the kind of the content type if no more specific tag is present.
  const tag = wanted === null ? null : textOf(member(data, "type_tag"));
  return { target_kind: wanted, target_archetype: null, target_tag: tag };
}

function objectiveOf(id: string, data: Data) {
  const contentType = slugOf(member(data, "content_type"));
  const target = targetOf(data, contentType);
  const isTagOnly = target.target_kind === "monster" && target.target_archetype === null;
  const meant = isTagOnly ? idsOf(member(data, "kill_archetypes")) : [];
  return {
    id,
    content_type: contentType,
    content_count: integerOf(member(data, "content_count")) ?? 1,
    ...target,
    ...(meant.length === 1 ? { target_archetype: meant[0] } : {}),
    ...(meant.length > 1 ? { target_archetypes: meant } : {}),
    dungeon_tags: idsOf(member(data, "dungeon_id_tags")).map((tag) => archetypeOfTag(tag) ?? tag),
    rarity: rarityOf(member(data, "rarity_type")) ?? rarityOf(member(data, "item_rarity")),
    item_type: slugOf(member(data, "item_type")),
  };
}

const rarityOf = (value: unknown) => slugOf(value, { legendary: "legend" });

/** Content ids at any depth, whatever structure upstream wraps them in. */
const contentIds = (value: unknown): string[] =>
  typeof value === "string"
    ? [value].filter((id) => id.startsWith("id."))
    : Object.values(objectOf(value)).concat(listOf(value)).flatMap(contentIds);

/** A quest references its contents directly or through an intermediate entity. */
function objectives(scope: Scope) {
  const found = new Map<string, Data>();
  const add = (value: unknown, isWithin: boolean) => {
    for (const id of contentIds(value)) {
      const content = scope.entity(id);
      if (content === null) continue;
      const inner = member(content.data, "quest_contents");
      if (inner !== undefined && isWithin) add(inner, false);
      else if (content.type === "quest_content") found.set(id, content.data);
    }
  };
  add(member(scope.source.data, "quest_contents"), true);
  return [...found].map(([id, data]) => objectiveOf(id, data));
}

const rewardTypes = { exp: "experience", adv_point: "adventure_points" };
/** The reference property of rewards whose property is not named after their type. */
const referenceOf: Readonly<Record<string, string | null>> = {
  experience: null,
  adventure_points: null,
  stash: null,
  random: "random_reward_id",
  affinity: "merchant_id",
  action: "action_skin_id",
};

/** PRJ-15: an unknown reward type passes through with its slug and all its ids. */
function rewardEntryOf(data: Data) {
  const type = slugOf(member(data, "reward_type"), rewardTypes) ?? "none";
  const reference = Object.hasOwn(referenceOf, type) ? referenceOf[type] : `${type}_id`;
  const id = textOf(member(data, "reward_id"));
  const others = Object.entries(data).filter(
    ([name, value]) => name.endsWith("_id") && name !== "reward_id" && textOf(value) !== null,
  );
  const rarity = rarityOf(member(data, "item_rarity"));
  const itemType = slugOf(member(data, "item_type"));
  return {
    type,
    count: integerOf(member(data, "reward_count")) ?? 1,
    ...(reference && type !== "none" ? { [reference]: id } : {}),
    ...Object.fromEntries(others),
    ...(rarity === null ? {} : { rarity }),
    ...(itemType === null ? {} : { item_type: itemType }),
  };
}

function rewards(scope: Scope) {
  const reward = scope.entity(member(scope.source.data, "quest_reward"));
  if (reward === null) return [];
  const entries = listOf(member(reward.data, "reward_item_array"));
  return [{ id: reward.id, entries: entries.map((entry) => rewardEntryOf(objectOf(entry))) }];
}

const hasPart = (id: string, parts: string) => new RegExp(`[._](?:${parts})(?:_|$)`).test(id);

export const quests = defineResource({
  type: "quest",
  path: "quests",
  name: "title_text",
  filters: ["id_like"],
  columns: {
    title: c.localized("title_text", { filter: { kind: "like", parameter: "name" } }),
    description: c.localized("description"),
    completion_text: c.localized("complete_text"),
    chapter_id: c.reference("required_quest", { filter: equals }),
    order: c.integer("order"),
    adventure_rank_min: c.integer("required_level", {
      filter: { kind: "range", prefix: "rank", absent: 0 },
    }),
    merchant_id: c.reference("merchant_id"),
    objectives: c.custom(Type.Array(Objective), objectives),
    rewards: c.custom(Type.Array(Reward), rewards),
    is_repeatable: c.derivedFlag(
      ({ source: { id, data } }) =>
        flagOf(member(data, "is_repeatable")) ?? hasPart(id, "daily|weekly|seasonal|repeatable"),
      { filter: equals },
    ),
    is_daily: c.derivedFlag(
      ({ source: { id, data } }) => flagOf(member(data, "is_daily")) ?? hasPart(id, "daily"),
      { filter: equals },
    ),
  },
});
