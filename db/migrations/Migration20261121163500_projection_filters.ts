import { Migration } from "@mikro-orm/migrations";

const indexes: readonly [resource: string, column: string, method: "btree" | "hash"][] = [
  ["items", "gear_score", "btree"],
  ["items", "archetype", "hash"],
  ["monsters", "hp", "btree"],
  ["monsters", "archetype", "hash"],
  ["skills", "archetype", "hash"],
  ["spells", "archetype", "hash"],
  ["perks", "archetype", "hash"],
  ["emotes", "archetype", "hash"],
  ["quests", "chapter_id", "hash"],
  ["merchants", "religion_id", "hash"],
  ["dungeon_cards", "party_size", "btree"],
  ["spawners", "monster_id", "hash"],
  ["spawners", "loot_drop_group_id", "hash"],
  ["triumphs", "tier", "btree"],
];

export class Migration20261121163500_projection_filters extends Migration {
  override name = "Migration20261121163500_projection_filters";

  override up(): void {
    for (const [resource, column, method] of indexes) {
      const table = `projection_${resource}`;
      this.addSql(`create index ${table}_${column}_index on ${table} using ${method} (${column})`);
    }
  }

  override down(): void {
    for (const [resource, column] of indexes)
      this.addSql(`drop index projection_${resource}_${column}_index`);
  }
}
