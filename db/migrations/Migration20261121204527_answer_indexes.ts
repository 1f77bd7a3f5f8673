import { Migration } from "@mikro-orm/migrations";

/** Drops indexes that every answer had to write and few queries read. */
export class Migration20261121204527_answer_indexes extends Migration {
  override name = "Migration20261121204527_answer_indexes";

  override up(): void {
    this.addSql(`drop index "play_sessions_open_index";`);
    this.addSql(`alter table "question_answers" drop constraint "question_answers_ref_unique";`);
    this.addSql(
      `create unique index question_answers_ref_unique on question_answers (ref) where ref is not null;`,
    );
    this.addSql(`drop index "board_changes_batch_index";`);
    this.addSql(
      `create index board_changes_batch_index on board_changes (batch) where batch is not null;`,
    );
  }

  override down(): void {
    this.addSql(
      `create index play_sessions_open_index on play_sessions (updated_at) where ended_at is null;`,
    );
    this.addSql(`drop index "question_answers_ref_unique";`);
    this.addSql(
      `alter table "question_answers" add constraint "question_answers_ref_unique" unique ("ref");`,
    );
    this.addSql(`drop index "board_changes_batch_index";`);
    this.addSql(`create index "board_changes_batch_index" on "board_changes" ("batch");`);
  }
}
