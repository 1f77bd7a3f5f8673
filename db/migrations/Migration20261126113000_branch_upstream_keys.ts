import { Migration } from "@mikro-orm/migrations";

/** Before this, an entity had on all branches the key from the last imported branch. */
export class Migration20261126113000_branch_upstream_keys extends Migration {
  override name = "Migration20261126113000_branch_upstream_keys";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "codex_branch_keys" ("branch_id" int not null, "entity_id" int not null, "upstream_key" varchar(255) not null, primary key ("branch_id", "entity_id"));`,
    );
    this.addSql(
      `insert into "codex_branch_keys" select h."branch_id", h."entity_id", e."upstream_key" from "codex_head" h join "codex_entities" e on e."id" = h."entity_id" where e."upstream_key" is not null;`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table "codex_branch_keys";`);
  }
}
