import { Migration } from "@mikro-orm/migrations";

export class Migration20261121103826_practice extends Migration {
  override name = "Migration20261121103826_practice";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "player_preferences" ("player_id" int not null, "preferences" json not null, primary key ("player_id"));`,
    );

    this.addSql(
      `create table "play_sessions" ("id" serial primary key, "player_id" int not null, "total_points" bigint not null default '0', "total_correct" int not null default 0, "total_answered" int not null default 0, "current_streak" int not null default 0, "best_streak" int not null default 0, "created_at" timestamptz not null, "updated_at" timestamptz not null, "ended_at" timestamptz null);`,
    );
    this.addSql(
      `create index play_sessions_open_index on play_sessions (updated_at) where ended_at is null;`,
    );
    this.addSql(
      `create unique index play_sessions_open_unique on play_sessions (player_id) where ended_at is null;`,
    );

    this.addSql(
      `create table "favorites" ("id" serial primary key, "player_id" int not null, "question_id" int not null, "created_at" timestamptz not null);`,
    );
    this.addSql(`create index "favorites_question_index" on "favorites" ("question_id");`);
    this.addSql(
      `alter table "favorites" add constraint "favorites_once_unique" unique ("player_id", "question_id");`,
    );

    this.addSql(
      `create table "question_reports" ("id" serial primary key, "question_id" int not null, "player_id" int not null, "reason" text not null, "comment" varchar(500) not null, "created_at" timestamptz not null, "resolved_at" timestamptz null);`,
    );
    this.addSql(
      `create index question_reports_open_index on question_reports (question_id) where resolved_at is null;`,
    );
    this.addSql(
      `alter table "question_reports" add constraint "question_reports_once_unique" unique ("question_id", "player_id");`,
    );

    this.addSql(`alter table "question_answers" add "ref" varchar(64) null;`);
    this.addSql(
      `alter table "question_answers" add constraint "question_answers_ref_unique" unique ("ref");`,
    );

    this.addSql(
      `alter table "player_preferences" add constraint "player_preferences_player_id_foreign" foreign key ("player_id") references "players" ("id") on update cascade on delete cascade;`,
    );

    this.addSql(
      `alter table "play_sessions" add constraint "play_sessions_player_id_foreign" foreign key ("player_id") references "players" ("id");`,
    );

    this.addSql(
      `alter table "favorites" add constraint "favorites_player_id_foreign" foreign key ("player_id") references "players" ("id");`,
    );
    this.addSql(
      `alter table "favorites" add constraint "favorites_question_id_foreign" foreign key ("question_id") references "questions" ("id");`,
    );

    this.addSql(
      `alter table "question_reports" add constraint "question_reports_question_id_foreign" foreign key ("question_id") references "questions" ("id");`,
    );
    this.addSql(
      `alter table "question_reports" add constraint "question_reports_player_id_foreign" foreign key ("player_id") references "players" ("id");`,
    );
    this.addSql(
      `alter table "question_reports" add constraint "question_reports_reason_check" check ("reason" in ('wrong_answer', 'ambiguous', 'outdated', 'offensive', 'typo', 'other'));`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "player_preferences" cascade;`);
    this.addSql(`drop table if exists "play_sessions" cascade;`);
    this.addSql(`drop table if exists "favorites" cascade;`);
    this.addSql(`drop table if exists "question_reports" cascade;`);

    this.addSql(`alter table "question_answers" drop constraint "question_answers_ref_unique";`);
    this.addSql(`alter table "question_answers" drop column "ref";`);
  }
}
