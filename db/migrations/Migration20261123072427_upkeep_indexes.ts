import { Migration } from "@mikro-orm/migrations";

export class Migration20261123072427_upkeep_indexes extends Migration {
  override name = "Migration20261123072427_upkeep_indexes";

  override up(): void | Promise<void> {
    this.addSql(
      `create index avatar_uploads_waiting_index on avatar_uploads (id) where status = 'queued' and file is not null;`,
    );

    this.addSql(
      `create index messages_sealed_index on messages (expires_at) where sealed is not null;`,
    );
    this.addSql(`create index messages_content_index on messages (id) where content is not null;`);

    this.addSql(
      `create index runs_unfinished_index on runs (challenge_id) where challenge_id is not null and not is_finished;`,
    );

    this.addSql(`drop index "sign_in_codes_expires_at_index";`);
    this.addSql(
      `create index "sign_in_codes_window_started_at_index" on "sign_in_codes" ("window_started_at");`,
    );

    this.addSql(`drop index "subscribers_updated_at_index";`);
    this.addSql(
      `create index subscribers_unverified_index on subscribers (updated_at) where verified_at is null and unsubscribed_at is null;`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop index "avatar_uploads_waiting_index";`);

    this.addSql(`drop index "messages_sealed_index";`);
    this.addSql(`drop index "messages_content_index";`);

    this.addSql(`drop index "runs_unfinished_index";`);

    this.addSql(`drop index "sign_in_codes_window_started_at_index";`);
    this.addSql(`create index "sign_in_codes_expires_at_index" on "sign_in_codes" ("expires_at");`);

    this.addSql(`drop index "subscribers_unverified_index";`);
    this.addSql(`create index "subscribers_updated_at_index" on "subscribers" ("updated_at");`);
  }
}
