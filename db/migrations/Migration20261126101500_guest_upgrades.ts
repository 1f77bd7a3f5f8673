import { Migration } from "@mikro-orm/migrations";

export class Migration20261126101500_guest_upgrades extends Migration {
  override name = "Migration20261126101500_guest_upgrades";

  override up(): void | Promise<void> {
    this.addSql(`alter table "players" add "upgraded_at" timestamptz null;`);
    this.addSql(
      `create index players_upgraded_index on players (upgraded_at) where upgraded_at is not null;`,
    );
    // An upgrade ends the guest's sessions; those of the last hour may still have valid access tokens.
    this.addSql(
      `update players p set upgraded_at = f.ended_at
        from (select player_id, max(revoked_at) as ended_at from token_families
          where is_guest and revoked_at > now() - interval '1 hour' group by player_id) f
        where f.player_id = p.id and not p.is_guest;`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "players" drop column "upgraded_at";`);
  }
}
