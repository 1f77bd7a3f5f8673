import { ImportRefused } from "../../contract.ts";
import { isFields, textOf, textsOf } from "../fields.ts";

/** An entity while it is put together. */
export interface Draft {
  id: string;
  type: string;
  data: Record<string, unknown>;
  links: { rel: string; target: string }[];
}

/** What one end tells: a `from` names others in `by`, and these get `into`, a list or one id. */
interface Relation {
  from: string;
  by: string;
  into: string;
  isList?: boolean;
}

/** Levels a religion may have: the number of one is its place in a list (S47). */
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
];

/** Tells every relation at the end that the projection reads, wherever upstream does (shapes.ts). */
export function relate(drafts: readonly Draft[]): void {
  const byId = new Map(drafts.map((draft) => [draft.id, draft]));
  for (const relation of relations)
    for (const source of drafts)
      if (source.type === relation.from)
        for (const id of idsOf(source.data[relation.by])) {
          const target = byId.get(id);
          if (target) tell(target, relation.into, source.id, relation.isList === true);
        }
  for (const draft of drafts) special[draft.type]?.(draft, byId);
}

/** What needs more than one look at the other end, by type. */
const special: Readonly<
  Record<string, ((draft: Draft, byId: ReadonlyMap<string, Draft>) => void) | undefined>
> = {
  quest_chapter(chapter, byId) {
    const merchant = textOf(chapter.data["merchant_id"]);
    for (const [at, id] of idsOf(chapter.data["quests"]).entries()) {
      const quest = byId.get(id);
      if (!quest) continue;
      quest.data["order"] ??= at + 1;
      if (merchant !== null) tell(quest, "merchant_id", merchant, false);
    }
  },
  item(item, byId) {
    const { requirement } = item.data;
    for (const id of idsOf(isFields(requirement) ? requirement["class_requirements"] : null))
      tell(item, "required_classes", id, true);
    // Upstream joins properties by name where an item does not name them.
    const slug = item.id.slice("id.item.".length);
    const [primary, secondary] = ["primary", "secondary"].map(
      (kind) => `id.item_property.${kind}_${slug}`,
    );
    if (primary !== undefined && byId.has(primary)) tell(item, "primary_property", primary, false);
    if (secondary !== undefined && byId.has(secondary))
      tell(item, "secondary_properties", secondary, true);
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

/** One id stays as the entity itself told it; a list gets what it has not. */
function tell({ data, links }: Draft, name: string, id: string, isList: boolean): void {
  const told = textsOf(data[name]);
  if (isList ? told.includes(id) : data[name] !== undefined) return;
  data[name] = isList ? [...told, id] : id;
  if (!links.some(({ rel, target }) => rel === name && target === id))
    links.push({ rel: name, target: id });
}
