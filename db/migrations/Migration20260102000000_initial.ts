import { Migration } from "@mikro-orm/migrations";

export class Migration20260102000000_initial extends Migration {
  override name = "Migration20260102000000_initial";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "audit_log" ("id" serial primary key, "operator" varchar(64) not null, "action" varchar(64) not null, "target" varchar(255) not null, "reason" varchar(500) not null, "detail" jsonb not null default '{}', "created_at" timestamptz not null default now());`,
    );
    this.addSql(`create index "audit_log_created_at_index" on "audit_log" ("created_at");`);

    this.addSql(
      `create table "award_definitions" ("id" serial primary key, "award_id" varchar(255) not null, "game" varchar(64) not null, "name" varchar(128) not null, "ember_value" int not null, "repeatable" boolean not null default false, "daily_limit" int null, "client_claimable" boolean not null default true, "is_active" boolean not null default true);`,
    );
    this.addSql(
      `alter table "award_definitions" add constraint "award_definitions_award_game_unique" unique ("award_id", "game");`,
    );

    this.addSql(
      `create table "levels" ("ord" int not null, "name" varchar(64) not null, "threshold" int not null, primary key ("ord"));`,
    );
    this.addSql(
      `alter table "levels" add constraint "levels_threshold_unique" unique ("threshold");`,
    );

    this.addSql(
      `create table "lobby_results" ("id" serial primary key, "lobby_id" int not null, "code" varchar(6) not null, "realm" varchar(63) not null, "host_player_id" int null, "mode" text not null, "settings" jsonb not null, "started_at" timestamptz null, "finished_at" timestamptz not null, "end_reason" varchar(32) not null, "sheet" jsonb not null);`,
    );
    this.addSql(
      `alter table "lobby_results" add constraint "lobby_results_lobby_unique" unique ("lobby_id");`,
    );
    this.addSql(`create index "lobby_results_code_index" on "lobby_results" ("code");`);
    this.addSql(`create index "lobby_results_host_index" on "lobby_results" ("host_player_id");`);
    this.addSql(
      `create index "lobby_results_finished_at_index" on "lobby_results" ("finished_at");`,
    );

    this.addSql(
      `create table "lobby_answers" ("id" serial primary key, "lobby_result_id" int not null, "question_index" int not null, "seat_id" int not null, "player_id" int null, "question_id" int not null, "selected_index" smallint not null, "is_correct" boolean not null, "points_earned" int not null, "time_taken_ms" int not null);`,
    );
    this.addSql(`create index "lobby_answers_player_index" on "lobby_answers" ("player_id");`);
    this.addSql(`create index "lobby_answers_question_index" on "lobby_answers" ("question_id");`);
    this.addSql(
      `alter table "lobby_answers" add constraint "lobby_answers_seat_unique" unique ("lobby_result_id", "question_index", "seat_id");`,
    );

    this.addSql(
      `create table "operators" ("id" serial primary key, "name" varchar(64) not null, "role" text not null, "token_hash" varchar(64) not null, "created_at" timestamptz not null default now(), "revoked_at" timestamptz null);`,
    );
    this.addSql(`alter table "operators" add constraint "operators_name_unique" unique ("name");`);
    this.addSql(
      `alter table "operators" add constraint "operators_token_hash_unique" unique ("token_hash");`,
    );

    this.addSql(
      `create table "players" ("id" serial primary key, "name" varchar(64) not null, "name_key" varchar(64) not null, "is_guest" boolean not null, "email" varchar(320) null, "email_key" varchar(254) null, "username" varchar(64) null, "display_name" varchar(64) null, "password_hash" varchar(255) null, "locale" varchar(35) not null default 'en', "timezone" varchar(64) not null default 'UTC', "channels" text[] not null default '{}', "last_login_at" timestamptz null, "email_verified_at" timestamptz null, "phone" varchar(16) null, "phone_verified_at" timestamptz null, "avatar_v" int not null default 0, "reclaim_generation" int not null default 0, "reclaim_void_below" int not null default 0, "realm" varchar(63) not null, "created_at" timestamptz not null default now(), "deleted_at" timestamptz null);`,
    );
    this.addSql(
      `alter table "players" add constraint "players_name_key_unique" unique ("name_key");`,
    );
    this.addSql(
      `alter table "players" add constraint "players_email_key_unique" unique ("email_key");`,
    );
    this.addSql(
      `create unique index players_verified_phone_unique on players (phone) where phone_verified_at is not null;`,
    );
    this.addSql(
      `create index players_name_key_trgm_index on players using gin (name_key gin_trgm_ops);`,
    );

    this.addSql(
      `create table "player_category_stats" ("player_id" int not null, "category" varchar(64) not null, "total_score" bigint not null default '0', "total_answers" int not null default 0, "total_correct" int not null default 0, "best_streak" int not null default 0, "current_streak" int not null default 0, "xp" int not null default 0, primary key ("player_id", "category"));`,
    );

    this.addSql(
      `create table "player_stats" ("player_id" int not null, "total_score" bigint not null default '0', "total_answers" int not null default 0, "total_correct" int not null default 0, "best_streak" int not null default 0, "current_streak" int not null default 0, "total_xp" int not null default 0, "score_at" timestamptz not null default now(), "xp_at" timestamptz not null default now(), "streak_at" timestamptz not null default now(), primary key ("player_id"));`,
    );
    this.addSql(
      `create index player_stats_score_index on player_stats (total_score desc, score_at, player_id);`,
    );
    this.addSql(
      `create index player_stats_xp_index on player_stats (total_xp desc, xp_at, player_id);`,
    );
    this.addSql(
      `create index player_stats_streak_index on player_stats (best_streak desc, streak_at, player_id);`,
    );

    this.addSql(
      `create table "questions" ("id" serial primary key, "category" varchar(64) not null, "difficulty" varchar(32) not null, "question" text not null, "choices" text[] not null, "correct_index" smallint not null, "explanation" text not null, "estimated_rate" smallint not null, "pool" text not null, "text_key" text not null, "num_served" int not null default 0, "num_correct" int not null default 0, "source" varchar(32) not null, "created_at" timestamptz not null default now(), "retired_at" timestamptz null);`,
    );
    this.addSql(
      `alter table "questions" add constraint "questions_text_key_unique" unique ("text_key");`,
    );
    this.addSql(
      `create index "questions_draw_index" on "questions" ("pool", "category", "difficulty", "id");`,
    );
    this.addSql(`create index "questions_catalog_index" on "questions" ("pool", "id");`);

    this.addSql(
      `create table "question_answers" ("id" serial primary key, "player_id" int not null, "question_id" int not null, "selected_index" smallint not null, "is_correct" boolean not null, "points" int not null default 0, "xp" int not null default 0, "source" text not null, "created_at" timestamptz not null default now());`,
    );
    this.addSql(
      `create index "question_answers_question_index" on "question_answers" ("question_id");`,
    );
    this.addSql(
      `create index "question_answers_seen_index" on "question_answers" ("player_id", "question_id");`,
    );
    this.addSql(
      `create index "question_answers_recent_index" on "question_answers" ("player_id", "id");`,
    );

    this.addSql(
      `create table "question_prompts" ("prompt_hash" varchar(64) not null, "question_id" int not null, primary key ("prompt_hash", "question_id"));`,
    );
    this.addSql(
      `create index "question_prompts_question_index" on "question_prompts" ("question_id");`,
    );

    this.addSql(
      `create table "realms" ("id" serial primary key, "slug" varchar(63) not null, "name" varchar(128) not null, "mode" text not null default 'hosted', "is_active" boolean not null default true, "created_at" timestamptz not null default now());`,
    );
    this.addSql(`alter table "realms" add constraint "realms_slug_unique" unique ("slug");`);

    this.addSql(
      `create table "realm_brandings" ("realm_id" int not null, "display_name" varchar(128) null, "logo_url" varchar(2048) null, "primary_color" varchar(9) null, "privacy_url" varchar(2048) null, "terms_url" varchar(2048) null, "support_email" varchar(254) null, "frontend_url" varchar(2048) null, primary key ("realm_id"));`,
    );

    this.addSql(
      `create table "token_families" ("id" varchar(22) not null, "player_id" int not null, "is_guest" boolean not null, "realm" varchar(63) not null, "generation" int not null default 0, "rotated_at" timestamptz null, "created_at" timestamptz not null default now(), "last_used_at" timestamptz not null default now(), "ends_at" timestamptz not null, "revoked_at" timestamptz null, "user_agent" varchar(255) null, primary key ("id"));`,
    );
    this.addSql(`create index "token_families_player_index" on "token_families" ("player_id");`);
    this.addSql(`create index "token_families_ends_at_index" on "token_families" ("ends_at");`);

    this.addSql(
      `alter table "lobby_results" add constraint "lobby_results_mode_check" check ("mode" in ('coop', 'versus'));`,
    );

    this.addSql(
      `alter table "lobby_answers" add constraint "lobby_answers_lobby_result_id_foreign" foreign key ("lobby_result_id") references "lobby_results" ("id");`,
    );

    this.addSql(
      `alter table "operators" add constraint "operators_role_check" check ("role" in ('viewer', 'operator', 'admin'));`,
    );

    this.addSql(
      `alter table "player_category_stats" add constraint "player_category_stats_player_id_foreign" foreign key ("player_id") references "players" ("id");`,
    );

    this.addSql(
      `alter table "player_stats" add constraint "player_stats_player_id_foreign" foreign key ("player_id") references "players" ("id") on update cascade on delete cascade;`,
    );

    this.addSql(
      `alter table "questions" add constraint "questions_pool_check" check ("pool" in ('public', 'competition'));`,
    );

    this.addSql(
      `alter table "question_answers" add constraint "question_answers_question_id_foreign" foreign key ("question_id") references "questions" ("id");`,
    );
    this.addSql(
      `alter table "question_answers" add constraint "question_answers_source_check" check ("source" in ('practice', 'run', 'lobby'));`,
    );

    this.addSql(
      `alter table "question_prompts" add constraint "question_prompts_question_id_foreign" foreign key ("question_id") references "questions" ("id");`,
    );

    this.addSql(
      `alter table "realms" add constraint "realms_mode_check" check ("mode" in ('hosted', 'shadow'));`,
    );

    this.addSql(
      `alter table "realm_brandings" add constraint "realm_brandings_realm_id_foreign" foreign key ("realm_id") references "realms" ("id") on update cascade on delete cascade;`,
    );

    this.addSql(
      `alter table "token_families" add constraint "token_families_player_id_foreign" foreign key ("player_id") references "players" ("id");`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(
      `alter table "lobby_answers" drop constraint "lobby_answers_lobby_result_id_foreign";`,
    );
    this.addSql(
      `alter table "player_category_stats" drop constraint "player_category_stats_player_id_foreign";`,
    );
    this.addSql(`alter table "player_stats" drop constraint "player_stats_player_id_foreign";`);
    this.addSql(`alter table "token_families" drop constraint "token_families_player_id_foreign";`);
    this.addSql(
      `alter table "question_answers" drop constraint "question_answers_question_id_foreign";`,
    );
    this.addSql(
      `alter table "question_prompts" drop constraint "question_prompts_question_id_foreign";`,
    );
    this.addSql(
      `alter table "realm_brandings" drop constraint "realm_brandings_realm_id_foreign";`,
    );

    this.addSql(`drop table if exists "audit_log" cascade;`);
    this.addSql(`drop table if exists "award_definitions" cascade;`);
    this.addSql(`drop table if exists "levels" cascade;`);
    this.addSql(`drop table if exists "lobby_results" cascade;`);
    this.addSql(`drop table if exists "lobby_answers" cascade;`);
    this.addSql(`drop table if exists "operators" cascade;`);
    this.addSql(`drop table if exists "players" cascade;`);
    this.addSql(`drop table if exists "player_category_stats" cascade;`);
    this.addSql(`drop table if exists "player_stats" cascade;`);
    this.addSql(`drop table if exists "questions" cascade;`);
    this.addSql(`drop table if exists "question_answers" cascade;`);
    this.addSql(`drop table if exists "question_prompts" cascade;`);
    this.addSql(`drop table if exists "realms" cascade;`);
    this.addSql(`drop table if exists "realm_brandings" cascade;`);
    this.addSql(`drop table if exists "token_families" cascade;`);
  }
}
