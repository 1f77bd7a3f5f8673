import { c, equals, type Column } from "../columns.ts";
import { defineResource, type Columns } from "../resource.ts";

export const classes = defineResource({
  type: "class",
  path: "classes",
  columns: {
    description: c.localized("description"),
    flavor: c.localized("flavor_text"),
    is_playable: c.boolean("can_use", { absent: false, filter: equals }),
    perk_ids: c.references("perks"),
    skill_ids: c.references("skills"),
    spell_ids: c.references("spells"),
    emote_ids: c.references("emotes"),
  },
});

/** Skills, spells, perks and emotes differ only in extra columns. */
const learned = (type: string, extra: Columns = {}) =>
  defineResource({
    type,
    path: `${type}s`,
    filters: ["archetype", "id_like"],
    columns: {
      description: c.localized("description"),
      ability_ids: c.references("abilities"),
      effect_ids: c.references("effects"),
      allowed_classes: c.names("classes"),
      ...extra,
    },
  });

const cooldown: Column = c.number("cooldown");

export const skills = learned("skill", {
  skill_type: c.enumeration("skill_type"),
  tier: c.integer("skill_tier"),
  cooldown,
});

export const spells = learned("spell", {
  spell_type: c.enumeration("spell_type"),
  tier: c.integer("spell_tier"),
  cooldown,
  casting_time: c.number("casting_time"),
});

export const perks = learned("perk");
export const emotes = learned("emote");
