import { ImportRefused } from "../../envelope/contract.ts";
import { isFields, textOf, textsOf } from "../fields.ts";
import { idOfTag } from "./names.ts";

/** An entity under construction. */
export interface Draft {
  id: string;
  type: string;
  data: Record<string, unknown>;
  links: { rel: string; target: string }[];
}

/** The inverse of a reference: each target of member `by` of a `from` gets its id in `into`, a list or one id. */
interface Relation {
  from: string;
  by: string;
  into: string;
  isList?: boolean;
}

/** Maximal level of a religion; levels index a list (S47). */
const maxLevels = 1_000;

const relations: readonly Relation[] = [
  { from: "shop_entry", by: "shop_id", into: "stock", isList: true },
  { from: "shop", by: "merchant_id", into: "shop_id" },
  { from: "religion", by: "merchant_id", into: "religion_id" },
  { from: "quest_chapter", by: "merchant_id", into: "quest_chapters", isList: true },
  { from: "perk", by: "classes", into: "perks", isList: true },
  { from: "skill", by: "classes", into: "skills", isList: true },
  { from: "spell", by: "classes", into: "spells", isList: true },
  { from: "emote", by: "classes", into: "emotes", isList: true },
  { from: "quest_content", by: "quest_id", into: "quest_contents", isList: true },
  { from: "quest_reward", by: "quest_id", into: "quest_reward" },
];

/** Adds every relation to the entity that the projection reads (shapes.ts). */
export function addRelations(drafts: readonly Draft[]): void {
  const byId = new Map(drafts.map((draft) => [draft.id, draft]));
  for (const relation of relations)
    for (const source of drafts)
      if (source.type === relation.from)
        for (const id of idsOf(source.data[relation.by])) {
          const target = byId.get(id);
          if (target) setRelation(target, relation.into, source.id, relation.isList === true);
        }
  for (const draft of drafts) special[draft.type]?.(draft, byId);
  joinQuests(drafts, byId);
  addKillArchetypes(drafts);
}

/** Joins quests to contents and rewards by name, if the quest names none. */
function joinQuests(drafts: readonly Draft[], byId: ReadonlyMap<string, Draft>): void {
  const contents = Map.groupBy(
    drafts.filter(({ type }) => type === "quest_content"),
    ({ id }) => id.replace(/^id\.quest_content\.(?:quest_content_)?|_\d+$/g, ""),
  );
  for (const quest of drafts) {
    if (quest.type !== "quest") continue;
    const slug = quest.id.slice("id.quest.".length);
    const reward = `id.quest_reward.${slug}`;
    if (byId.has(reward)) setRelation(quest, "quest_reward", reward, false);
    if (quest.data["quest_contents"] === undefined)
      for (const { id } of contents.get(slug) ?? []) setRelation(quest, "quest_contents", id, true);
  }
}

/** Lists the monsters of a kill tag; only the monsters name their tags. */
function addKillArchetypes(drafts: readonly Draft[]): void {
  const byTag = new Map<string, Set<string>>();
  for (const { id, type, data } of drafts) {
    if (type !== "monster") continue;
    const archetype = archetypeOf(id, data["id_tag"]);
    for (const name of ["character_types", "class_type", "grade_type"])
      for (const tag of idsOf(data[name]))
        byTag.set(tag, (byTag.get(tag) ?? new Set()).add(archetype));
  }
  for (const { type, data } of drafts) {
    if (type !== "quest_content" || data["kill_archetypes"] !== undefined) continue;
    const archetypes = idsOf(data["kill_tag"]).flatMap((tag) => [...(byTag.get(tag) ?? [])]);
    if (archetypes.length > 0) data["kill_archetypes"] = [...new Set(archetypes)].sort();
  }
}

function archetypeOf(id: string, tag: unknown): string {
  const idTag = textOf(tag);
  return idTag?.startsWith("Id.Monster.") === true ? idOfTag(idTag) : id.replace(/_\d+$/, "");
}

/** Relations with rules of their own, by type. */
const special: Readonly<
  Record<string, ((draft: Draft, byId: ReadonlyMap<string, Draft>) => void) | undefined>
> = {
  quest_chapter(chapter, byId) {
    const merchant = textOf(chapter.data["merchant_id"]);
    for (const [at, id] of idsOf(chapter.data["quests"]).entries()) {
      const quest = byId.get(id);
      if (!quest) continue;
      quest.data["order"] ??= at + 1;
      if (merchant !== null) setRelation(quest, "merchant_id", merchant, false);
    }
  },
  item(item, byId) {
    const { requirement } = item.data;
    for (const id of idsOf(isFields(requirement) ? requirement["class_requirements"] : null))
      setRelation(item, "required_classes", id, true);
    // Joined by name, if the item names no properties.
    const slug = item.id.slice("id.item.".length);
    const [primary, secondary] = ["primary", "secondary"].map(
      (kind) => `id.item_property.${kind}_${slug}`,
    );
    if (primary !== undefined && byId.has(primary))
      setRelation(item, "primary_property", primary, false);
    if (secondary !== undefined && byId.has(secondary))
      setRelation(item, "secondary_properties", secondary, true);
  },
  religion_offering_level({ id, data }, byId) {
    const religion = byId.get(textOf(data["religion_id"]) ?? "");
    const { level, exp } = data;
    if (!religion || typeof level !== "number" || typeof exp !== "number") return;
    if (!Number.isInteger(level) || level < 1 || level > maxLevels)
      throw new ImportRefused([
        {
          entity: id,
          place: "data.level",
          problem: `${level} is no level from 1 to ${maxLevels}`,
        },
      ]);
    const levels = Array.isArray(religion.data["offering_level_exp"])
      ? [...(religion.data["offering_level_exp"] as unknown[])]
      : [];
    levels[level - 1] = exp;
    religion.data["offering_level_exp"] = Array.from(levels, (one) => one ?? 0);
  },
};

const idsOf = (value: unknown) => (typeof value === "string" ? [value] : textsOf(value));

/** Sets an unset id, or adds a missing id to a list. */
function setRelation({ data, links }: Draft, name: string, id: string, isList: boolean): void {
  const ids = textsOf(data[name]);
  if (isList ? ids.includes(id) : data[name] !== undefined) return;
  data[name] = isList ? [...ids, id] : id;
  if (!links.some(({ rel, target }) => rel === name && target === id))
    links.push({ rel: name, target: id });
}
