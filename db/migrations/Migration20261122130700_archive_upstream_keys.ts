import { Migration } from "@mikro-orm/migrations";

/** Branches and patches may give the same upstream key to several entities. */
export class Migration20261122130700_archive_upstream_keys extends Migration {
  override name = "Migration20261122130700_archive_upstream_keys";

  override up(): void | Promise<void> {
    this.addSql(
      `alter table "codex_upstream_keys" drop constraint "codex_upstream_keys_pkey", add primary key ("game_id", "upstream_key", "entity_id");`,
    );
    this.addSql(
      `insert into "codex_upstream_keys" select "game_id", "upstream_key", "id" from "codex_entities" where "upstream_key" is not null on conflict do nothing;`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(
      `delete from "codex_upstream_keys" k using "codex_upstream_keys" o where k.game_id = o.game_id and k.upstream_key = o.upstream_key and k.entity_id < o.entity_id;`,
    );
    this.addSql(
      `alter table "codex_upstream_keys" drop constraint "codex_upstream_keys_pkey", add primary key ("game_id", "upstream_key");`,
    );
  }
}
