import { Migration } from "@mikro-orm/migrations";

export class Migration20261121105037_boards extends Migration {
  override name = "Migration20261121105037_boards";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "board_changes" ("id" bigserial primary key, "kind" text not null, "subject_id" int not null, "batch" bigint null);`,
    );
    this.addSql(
      `create index board_changes_waiting_index on board_changes (id) where batch is null;`,
    );
    this.addSql(`create index "board_changes_batch_index" on "board_changes" ("batch");`);

    this.addSql(
      `create table "board_state" ("id" smallint primary key, "batch" bigint not null default '0', "trimmed" bigint not null default '0');`,
    );

    this.addSql(
      `create table "challenges" ("id" serial primary key, "kind" text not null, "date" date not null, "question_ids" int[] not null, "created_at" timestamptz not null, "released_at" timestamptz null);`,
    );
    this.addSql(
      `create index challenges_unreleased_index on challenges (date) where released_at is null;`,
    );
    this.addSql(
      `alter table "challenges" add constraint "challenges_day_unique" unique ("date", "kind");`,
    );

    this.addSql(
      `create table "rank_snapshots" ("day" date not null, "player_id" int not null, "score" int not null, "accuracy" int not null, "streak" int not null, "xp" int not null, primary key ("day", "player_id"));`,
    );

    this.addSql(
      `create table "rank_snapshot_days" ("day" date not null, "taken_at" timestamptz not null, primary key ("day"));`,
    );

    this.addSql(
      `create table "runs" ("id" serial primary key, "player_id" int not null, "mode" text not null, "challenge_id" int null, "category" varchar(64) null, "score" int not null default 0, "streak" int not null default 0, "best_streak" int not null default 0, "num_correct" int not null default 0, "current_index" int not null default 0, "total_time_ms" int not null default 0, "question_ids" int[] not null, "is_answered" boolean not null default false, "shown_at" timestamptz not null, "touched_at" timestamptz not null, "is_finished" boolean not null default false, "created_at" timestamptz not null, "finished_at" timestamptz null);`,
    );
    this.addSql(
      `create index runs_board_index on runs (challenge_id, score desc, total_time_ms, finished_at, id) where is_finished;`,
    );
    this.addSql(
      `create unique index runs_challenge_unique on runs (player_id, challenge_id) where challenge_id is not null;`,
    );
    this.addSql(
      `create unique index runs_endless_unique on runs (player_id) where mode = 'endless' and not is_finished;`,
    );
    this.addSql(
      `create index runs_stale_index on runs (touched_at) where mode = 'endless' and not is_finished;`,
    );

    this.addSql(
      `create table "teams" ("id" serial primary key, "name" varchar(32) not null, "name_key" varchar(64) not null, "join_code" varchar(8) not null, "owner_id" int not null, "created_at" timestamptz not null);`,
    );
    this.addSql(`alter table "teams" add constraint "teams_name_unique" unique ("name_key");`);
    this.addSql(
      `alter table "teams" add constraint "teams_join_code_unique" unique ("join_code");`,
    );

    this.addSql(
      `create table "team_members" ("player_id" int not null, "team_id" int not null, "joined_at" timestamptz not null, primary key ("player_id"));`,
    );
    this.addSql(
      `create index "team_members_team_index" on "team_members" ("team_id", "joined_at", "player_id");`,
    );

    this.addSql(
      `create table "word_results" ("id" serial primary key, "player_id" int not null, "mode" text not null, "score" int not null, "level" int not null, "words_found" int not null, "blocks_dropped" int not null, "time_taken" varchar(9) not null, "time_cs" int not null, "time_given" varchar(9) null, "date" date null, "completed" boolean not null, "target_words" text[] null, "target_words_found" text[] null, "created_at" timestamptz not null);`,
    );
    this.addSql(
      `create index word_results_best_index on word_results (mode, player_id, score desc, level desc, time_cs, created_at, id);`,
    );
    this.addSql(
      `create index word_results_date_index on word_results (date) where mode = 'daily';`,
    );
    this.addSql(
      `create index word_results_created_index on word_results (created_at) where mode = 'random';`,
    );

    this.addSql(
      `create or replace function "player_stats_player_stats_noted_fn"() returns trigger as $$ begin if new.total_answers > 0 then insert into board_changes (kind, subject_id) values ('player', new.player_id); end if; return null; end; $$ language plpgsql;`,
    );
    this.addSql(
      `create trigger "player_stats_noted" AFTER INSERT OR UPDATE on "player_stats" for each ROW execute function "player_stats_player_stats_noted_fn"();`,
    );

    this.addSql(
      `alter table "board_changes" add constraint "board_changes_kind_check" check ("kind" in ('player', 'team', 'run', 'word'));`,
    );

    this.addSql(
      `alter table "challenges" add constraint "challenges_kind_check" check ("kind" in ('daily_shuffle', 'gauntlet'));`,
    );

    this.addSql(
      `alter table "runs" add constraint "runs_challenge_id_foreign" foreign key ("challenge_id") references "challenges" ("id") on delete set null;`,
    );
    this.addSql(
      `alter table "runs" add constraint "runs_mode_check" check ("mode" in ('endless', 'daily_shuffle', 'gauntlet'));`,
    );

    this.addSql(
      `alter table "team_members" add constraint "team_members_player_id_foreign" foreign key ("player_id") references "players" ("id") on update cascade on delete cascade;`,
    );
    this.addSql(
      `alter table "team_members" add constraint "team_members_team_id_foreign" foreign key ("team_id") references "teams" ("id") on delete cascade;`,
    );

    this.addSql(
      `alter table "word_results" add constraint "word_results_mode_check" check ("mode" in ('daily', 'random'));`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "runs" drop constraint "runs_challenge_id_foreign";`);
    this.addSql(`alter table "team_members" drop constraint "team_members_team_id_foreign";`);

    this.addSql(`drop table if exists "board_changes" cascade;`);
    this.addSql(`drop table if exists "board_state" cascade;`);
    this.addSql(`drop table if exists "challenges" cascade;`);
    this.addSql(`drop table if exists "rank_snapshots" cascade;`);
    this.addSql(`drop table if exists "rank_snapshot_days" cascade;`);
    this.addSql(`drop table if exists "runs" cascade;`);
    this.addSql(`drop table if exists "teams" cascade;`);
    this.addSql(`drop table if exists "team_members" cascade;`);
    this.addSql(`drop table if exists "word_results" cascade;`);

    this.addSql(`drop trigger if exists "player_stats_noted" on "player_stats";`);
    this.addSql(`drop function if exists "player_stats_player_stats_noted_fn"();`);
  }
}
