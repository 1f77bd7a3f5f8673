import { Migration } from "@mikro-orm/migrations";

/**
 * A revoked link is stored only in `revocations`. The previous release, which may run beside this one,
 * treats every row as a link and names the constraint when it inserts one.
 */
export class Migration20261126190000_connection_constraints extends Migration {
  override name = "Migration20261126190000_connection_constraints";

  override up(): void | Promise<void> {
    this.addSql(`alter table "revocations" add "subject" varchar(255) null;`);
    this.addSql(
      `update "revocations" r set "subject" = c."subject" from "oauth_connections" c
        where r."kind" = 'connection' and r."player_id" = c."player_id" and r."label" = c."provider"
          and r."revoked_at" = c."revoked_at";`,
    );
    this.addSql(`delete from "oauth_connections" where "revoked_at" is not null;`);
    this.addSql(`drop index "oauth_connections_player_unique";`);
    this.addSql(`drop index "oauth_connections_subject_unique";`);
    this.addSql(
      `alter table "oauth_connections" add constraint "oauth_connections_subject_unique" unique ("provider", "subject");`,
    );
    this.addSql(
      `alter table "oauth_connections" add constraint "oauth_connections_player_unique" unique ("player_id", "provider");`,
    );
    this.addSql(
      `alter table "oauth_connections" drop column "revoked_at", drop column "revoked_reason";`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "revocations" drop column "subject";`);
    this.addSql(
      `alter table "oauth_connections" add "revoked_at" timestamptz null, add "revoked_reason" varchar(32) null;`,
    );
    this.addSql(
      `alter table "oauth_connections" drop constraint "oauth_connections_subject_unique";`,
    );
    this.addSql(
      `alter table "oauth_connections" drop constraint "oauth_connections_player_unique";`,
    );
    this.addSql(
      `create unique index oauth_connections_subject_unique on oauth_connections (provider, subject) where revoked_at is null;`,
    );
    this.addSql(
      `create unique index oauth_connections_player_unique on oauth_connections (player_id, provider) where revoked_at is null;`,
    );
  }
}
