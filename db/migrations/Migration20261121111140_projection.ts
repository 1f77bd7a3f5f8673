import { Migration } from "@mikro-orm/migrations";

export class Migration20261121111140_projection extends Migration {
  override name = "Migration20261121111140_projection";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "projection_achievements" ("id" text collate "C" not null, "archetype" text collate "C" null, "slug" text collate "C" null, "name" json null, "icon" json null, "upstream_key" text collate "C" null, "patch" text collate "C" null, "description" json null, "category" text collate "C" null, "payload" json null, "companions" json not null, "text_keys" json not null, "inputs_hash" char(64) not null, "texts_hash" char(64) not null, "enums" json not null, primary key ("id"));`,
    );

    this.addSql(
      `create table "projection_classes" ("id" text collate "C" not null, "archetype" text collate "C" null, "slug" text collate "C" null, "name" json null, "icon" json null, "upstream_key" text collate "C" null, "patch" text collate "C" null, "description" json null, "flavor" json null, "is_playable" boolean null, "perk_ids" json null, "skill_ids" json null, "spell_ids" json null, "emote_ids" json null, "companions" json not null, "text_keys" json not null, "inputs_hash" char(64) not null, "texts_hash" char(64) not null, "enums" json not null, primary key ("id"));`,
    );

    this.addSql(
      `create table "projection_dungeon_cards" ("id" text collate "C" not null, "archetype" text collate "C" null, "slug" text collate "C" null, "name" json null, "icon" json null, "upstream_key" text collate "C" null, "patch" text collate "C" null, "mode" text collate "C" null, "party_size" double precision null, "companions" json not null, "text_keys" json not null, "inputs_hash" char(64) not null, "texts_hash" char(64) not null, "enums" json not null, primary key ("id"));`,
    );

    this.addSql(
      `create table "projection_dungeon_grades" ("id" text collate "C" not null, "archetype" text collate "C" null, "slug" text collate "C" null, "name" json null, "icon" json null, "upstream_key" text collate "C" null, "patch" text collate "C" null, "tier" double precision null, "companions" json not null, "text_keys" json not null, "inputs_hash" char(64) not null, "texts_hash" char(64) not null, "enums" json not null, primary key ("id"));`,
    );

    this.addSql(
      `create table "projection_dungeon_layouts" ("id" text collate "C" not null, "archetype" text collate "C" null, "slug" text collate "C" null, "name" json null, "icon" json null, "upstream_key" text collate "C" null, "patch" text collate "C" null, "floor" double precision null, "module" text collate "C" null, "companions" json not null, "text_keys" json not null, "inputs_hash" char(64) not null, "texts_hash" char(64) not null, "enums" json not null, primary key ("id"));`,
    );

    this.addSql(
      `create table "projection_dungeons" ("id" text collate "C" not null, "archetype" text collate "C" null, "slug" text collate "C" null, "name" json null, "icon" json null, "upstream_key" text collate "C" null, "patch" text collate "C" null, "grade_ids" json null, "layout_ids" json null, "card_ids" json null, "adventure_rank_min" double precision null, "companions" json not null, "text_keys" json not null, "inputs_hash" char(64) not null, "texts_hash" char(64) not null, "enums" json not null, primary key ("id"));`,
    );

    this.addSql(
      `create table "projection_emotes" ("id" text collate "C" not null, "archetype" text collate "C" null, "slug" text collate "C" null, "name" json null, "icon" json null, "upstream_key" text collate "C" null, "patch" text collate "C" null, "description" json null, "ability_ids" json null, "effect_ids" json null, "allowed_classes" json null, "companions" json not null, "text_keys" json not null, "inputs_hash" char(64) not null, "texts_hash" char(64) not null, "enums" json not null, primary key ("id"));`,
    );

    this.addSql(
      `create table "projection_faustian_bargains" ("id" text collate "C" not null, "archetype" text collate "C" null, "slug" text collate "C" null, "name" json null, "icon" json null, "upstream_key" text collate "C" null, "patch" text collate "C" null, "description" json null, "tier" double precision null, "payload" json null, "companions" json not null, "text_keys" json not null, "inputs_hash" char(64) not null, "texts_hash" char(64) not null, "enums" json not null, primary key ("id"));`,
    );

    this.addSql(
      `create table "projection_items" ("id" text collate "C" not null, "archetype" text collate "C" null, "slug" text collate "C" null, "name" json null, "icon" json null, "upstream_key" text collate "C" null, "patch" text collate "C" null, "description" json null, "flavor" json null, "rarity" text collate "C" null, "item_type" text collate "C" null, "slot_type" text collate "C" null, "armor_type" text collate "C" null, "hand_type" text collate "C" null, "weapon_type" text collate "C" null, "utility_type" text collate "C" null, "misc_type" text collate "C" null, "gear_score" double precision null, "inventory_width" double precision null, "inventory_height" double precision null, "max_stack_size" double precision null, "wearing_delay_time" double precision null, "required_class" json null, "vendor_price" double precision null, "experience" double precision null, "adventure_points" double precision null, "num_primary_attributes" double precision null, "num_secondary_attributes" double precision null, "is_droppable" boolean null, "is_tradable" boolean null, "primary_attributes" json null, "secondary_attributes" json null, "companions" json not null, "text_keys" json not null, "inputs_hash" char(64) not null, "texts_hash" char(64) not null, "enums" json not null, primary key ("id"));`,
    );

    this.addSql(
      `create table "projection_loot_drop_groups" ("id" text collate "C" not null, "archetype" text collate "C" null, "slug" text collate "C" null, "name" json null, "icon" json null, "upstream_key" text collate "C" null, "patch" text collate "C" null, "entries" json null, "companions" json not null, "text_keys" json not null, "inputs_hash" char(64) not null, "texts_hash" char(64) not null, "enums" json not null, primary key ("id"));`,
    );

    this.addSql(
      `create table "projection_loot_drop_rates" ("id" text collate "C" not null, "archetype" text collate "C" null, "slug" text collate "C" null, "name" json null, "icon" json null, "upstream_key" text collate "C" null, "patch" text collate "C" null, "params" json null, "companions" json not null, "text_keys" json not null, "inputs_hash" char(64) not null, "texts_hash" char(64) not null, "enums" json not null, primary key ("id"));`,
    );

    this.addSql(
      `create table "projection_loot_drops" ("id" text collate "C" not null, "archetype" text collate "C" null, "slug" text collate "C" null, "name" json null, "icon" json null, "upstream_key" text collate "C" null, "patch" text collate "C" null, "items" json null, "companions" json not null, "text_keys" json not null, "inputs_hash" char(64) not null, "texts_hash" char(64) not null, "enums" json not null, primary key ("id"));`,
    );

    this.addSql(
      `create table "projection_merchants" ("id" text collate "C" not null, "archetype" text collate "C" null, "slug" text collate "C" null, "name" json null, "icon" json null, "upstream_key" text collate "C" null, "patch" text collate "C" null, "description" json null, "display_order" double precision null, "service_types" json null, "shop_id" text collate "C" null, "religion_id" text collate "C" null, "quest_chapter_ids" json null, "companions" json not null, "text_keys" json not null, "inputs_hash" char(64) not null, "texts_hash" char(64) not null, "enums" json not null, primary key ("id"));`,
    );

    this.addSql(
      `create table "projection_monsters" ("id" text collate "C" not null, "archetype" text collate "C" null, "slug" text collate "C" null, "name" json null, "icon" json null, "upstream_key" text collate "C" null, "patch" text collate "C" null, "description" json null, "flavor" json null, "class_type" text collate "C" null, "grade_type" text collate "C" null, "hp" double precision null, "experience" double precision null, "adventure_points" double precision null, "loot_drop_group_id" text collate "C" null, "attributes" json null, "damage_reductions" json null, "abilities" json null, "companions" json not null, "text_keys" json not null, "inputs_hash" char(64) not null, "texts_hash" char(64) not null, "enums" json not null, primary key ("id"));`,
    );

    this.addSql(
      `create table "projection_perks" ("id" text collate "C" not null, "archetype" text collate "C" null, "slug" text collate "C" null, "name" json null, "icon" json null, "upstream_key" text collate "C" null, "patch" text collate "C" null, "description" json null, "ability_ids" json null, "effect_ids" json null, "allowed_classes" json null, "companions" json not null, "text_keys" json not null, "inputs_hash" char(64) not null, "texts_hash" char(64) not null, "enums" json not null, primary key ("id"));`,
    );

    this.addSql(
      `create table "projection_quests" ("id" text collate "C" not null, "archetype" text collate "C" null, "slug" text collate "C" null, "name" json null, "icon" json null, "upstream_key" text collate "C" null, "patch" text collate "C" null, "title" json null, "description" json null, "completion_text" json null, "chapter_id" text collate "C" null, "order" double precision null, "adventure_rank_min" double precision null, "merchant_id" text collate "C" null, "objectives" json null, "rewards" json null, "is_repeatable" boolean null, "is_daily" boolean null, "companions" json not null, "text_keys" json not null, "inputs_hash" char(64) not null, "texts_hash" char(64) not null, "enums" json not null, primary key ("id"));`,
    );

    this.addSql(
      `create table "projection_religions" ("id" text collate "C" not null, "archetype" text collate "C" null, "slug" text collate "C" null, "name" json null, "icon" json null, "upstream_key" text collate "C" null, "patch" text collate "C" null, "description" json null, "subtitle" json null, "display_order" double precision null, "offering_cost" double precision null, "offering_lv_xp" json null, "companions" json not null, "text_keys" json not null, "inputs_hash" char(64) not null, "texts_hash" char(64) not null, "enums" json not null, primary key ("id"));`,
    );

    this.addSql(
      `create table "projection_shops" ("id" text collate "C" not null, "archetype" text collate "C" null, "slug" text collate "C" null, "name" json null, "icon" json null, "upstream_key" text collate "C" null, "patch" text collate "C" null, "merchant_id" text collate "C" null, "stock" json null, "companions" json not null, "text_keys" json not null, "inputs_hash" char(64) not null, "texts_hash" char(64) not null, "enums" json not null, primary key ("id"));`,
    );

    this.addSql(
      `create table "projection_skills" ("id" text collate "C" not null, "archetype" text collate "C" null, "slug" text collate "C" null, "name" json null, "icon" json null, "upstream_key" text collate "C" null, "patch" text collate "C" null, "description" json null, "ability_ids" json null, "effect_ids" json null, "allowed_classes" json null, "skill_type" text collate "C" null, "tier" double precision null, "cooldown" double precision null, "companions" json not null, "text_keys" json not null, "inputs_hash" char(64) not null, "texts_hash" char(64) not null, "enums" json not null, primary key ("id"));`,
    );

    this.addSql(
      `create table "projection_spawners" ("id" text collate "C" not null, "archetype" text collate "C" null, "slug" text collate "C" null, "name" json null, "icon" json null, "upstream_key" text collate "C" null, "patch" text collate "C" null, "spawner_type" text collate "C" null, "monster_id" text collate "C" null, "loot_drop_group_id" text collate "C" null, "payload" json null, "companions" json not null, "text_keys" json not null, "inputs_hash" char(64) not null, "texts_hash" char(64) not null, "enums" json not null, primary key ("id"));`,
    );

    this.addSql(
      `create table "projection_spells" ("id" text collate "C" not null, "archetype" text collate "C" null, "slug" text collate "C" null, "name" json null, "icon" json null, "upstream_key" text collate "C" null, "patch" text collate "C" null, "description" json null, "ability_ids" json null, "effect_ids" json null, "allowed_classes" json null, "spell_type" text collate "C" null, "tier" double precision null, "cooldown" double precision null, "casting_time" double precision null, "companions" json not null, "text_keys" json not null, "inputs_hash" char(64) not null, "texts_hash" char(64) not null, "enums" json not null, primary key ("id"));`,
    );

    this.addSql(
      `create table "projection_triumphs" ("id" text collate "C" not null, "archetype" text collate "C" null, "slug" text collate "C" null, "name" json null, "icon" json null, "upstream_key" text collate "C" null, "patch" text collate "C" null, "tier" double precision null, "xp_requirement" double precision null, "companions" json not null, "text_keys" json not null, "inputs_hash" char(64) not null, "texts_hash" char(64) not null, "enums" json not null, primary key ("id"));`,
    );

    this.addSql(
      `create table "projection_workshop_levels" ("id" text collate "C" not null, "archetype" text collate "C" null, "slug" text collate "C" null, "name" json null, "icon" json null, "upstream_key" text collate "C" null, "patch" text collate "C" null, "description" json null, "workshop_id" text collate "C" null, "tier" double precision null, "xp_requirement" double precision null, "requirements" json null, "payload" json null, "companions" json not null, "text_keys" json not null, "inputs_hash" char(64) not null, "texts_hash" char(64) not null, "enums" json not null, primary key ("id"));`,
    );

    this.addSql(
      `create table "projection_workshop_services" ("id" text collate "C" not null, "archetype" text collate "C" null, "slug" text collate "C" null, "name" json null, "icon" json null, "upstream_key" text collate "C" null, "patch" text collate "C" null, "service_type" text collate "C" null, "workshop_id" text collate "C" null, "inputs" json null, "outputs" json null, "cost" double precision null, "payload" json null, "companions" json not null, "text_keys" json not null, "inputs_hash" char(64) not null, "texts_hash" char(64) not null, "enums" json not null, primary key ("id"));`,
    );

    this.addSql(
      `create table "projection_workshop_upgrades" ("id" text collate "C" not null, "archetype" text collate "C" null, "slug" text collate "C" null, "name" json null, "icon" json null, "upstream_key" text collate "C" null, "patch" text collate "C" null, "description" json null, "workshop_id" text collate "C" null, "tier" double precision null, "xp_requirement" double precision null, "requirements" json null, "payload" json null, "companions" json not null, "text_keys" json not null, "inputs_hash" char(64) not null, "texts_hash" char(64) not null, "enums" json not null, primary key ("id"));`,
    );

    this.addSql(
      `create table "projection_workshops" ("id" text collate "C" not null, "archetype" text collate "C" null, "slug" text collate "C" null, "name" json null, "icon" json null, "upstream_key" text collate "C" null, "patch" text collate "C" null, "description" json null, "tier" double precision null, "xp_requirement" double precision null, "requirements" json null, "payload" json null, "companions" json not null, "text_keys" json not null, "inputs_hash" char(64) not null, "texts_hash" char(64) not null, "enums" json not null, primary key ("id"));`,
    );

    this.addSql(
      `create table "projection_builds" ("id" serial primary key, "game_id" int not null, "status" varchar(16) not null, "projector_version" int not null, "generation" int not null, "num_added" int not null, "num_changed" int not null, "num_removed" int not null, "created_at" timestamptz not null, "applied_at" timestamptz null, "reverted_at" timestamptz null);`,
    );

    this.addSql(
      `create table "projection_changes" ("build_id" int not null, "row_id" text collate "C" not null, "resource" varchar(64) not null, "before" json null, "after" json null, primary key ("build_id", "row_id"));`,
    );

    this.addSql(
      `create table "projection_facets" ("column_name" text collate "C" not null, "slug" text collate "C" not null, "labels" json not null, primary key ("column_name", "slug"));`,
    );

    this.addSql(
      `create table "projection_state" ("game_id" int not null, "projector_version" int not null, "generation" int not null, "text_hashes" jsonb not null, "built_at" timestamptz not null, primary key ("game_id"));`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "projection_achievements" cascade;`);
    this.addSql(`drop table if exists "projection_classes" cascade;`);
    this.addSql(`drop table if exists "projection_dungeon_cards" cascade;`);
    this.addSql(`drop table if exists "projection_dungeon_grades" cascade;`);
    this.addSql(`drop table if exists "projection_dungeon_layouts" cascade;`);
    this.addSql(`drop table if exists "projection_dungeons" cascade;`);
    this.addSql(`drop table if exists "projection_emotes" cascade;`);
    this.addSql(`drop table if exists "projection_faustian_bargains" cascade;`);
    this.addSql(`drop table if exists "projection_items" cascade;`);
    this.addSql(`drop table if exists "projection_loot_drop_groups" cascade;`);
    this.addSql(`drop table if exists "projection_loot_drop_rates" cascade;`);
    this.addSql(`drop table if exists "projection_loot_drops" cascade;`);
    this.addSql(`drop table if exists "projection_merchants" cascade;`);
    this.addSql(`drop table if exists "projection_monsters" cascade;`);
    this.addSql(`drop table if exists "projection_perks" cascade;`);
    this.addSql(`drop table if exists "projection_quests" cascade;`);
    this.addSql(`drop table if exists "projection_religions" cascade;`);
    this.addSql(`drop table if exists "projection_shops" cascade;`);
    this.addSql(`drop table if exists "projection_skills" cascade;`);
    this.addSql(`drop table if exists "projection_spawners" cascade;`);
    this.addSql(`drop table if exists "projection_spells" cascade;`);
    this.addSql(`drop table if exists "projection_triumphs" cascade;`);
    this.addSql(`drop table if exists "projection_workshop_levels" cascade;`);
    this.addSql(`drop table if exists "projection_workshop_services" cascade;`);
    this.addSql(`drop table if exists "projection_workshop_upgrades" cascade;`);
    this.addSql(`drop table if exists "projection_workshops" cascade;`);
    this.addSql(`drop table if exists "projection_builds" cascade;`);
    this.addSql(`drop table if exists "projection_changes" cascade;`);
    this.addSql(`drop table if exists "projection_facets" cascade;`);
    this.addSql(`drop table if exists "projection_state" cascade;`);
  }
}
