import { Migration } from "@mikro-orm/migrations";

export class Migration20261121090805_wallet extends Migration {
  override name = "Migration20261121090805_wallet";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "award_grants" ("id" bigserial primary key, "player_id" int not null, "award_id" varchar(255) not null, "game" varchar(64) not null, "ember_value" int not null, "repeatable" boolean not null, "entry_id" bigint not null, "granted_at" timestamptz not null);`,
    );
    this.addSql(
      `alter table "award_grants" add constraint "award_grants_entry_unique" unique ("entry_id");`,
    );
    this.addSql(`create index "award_grants_player_index" on "award_grants" ("player_id", "id");`);
    this.addSql(
      `create index "award_grants_day_index" on "award_grants" ("player_id", "award_id", "game", "granted_at");`,
    );
    this.addSql(
      `create unique index award_grants_once_unique on award_grants (player_id, award_id, game) where not repeatable;`,
    );

    this.addSql(
      `create table "ledger_entries" ("id" bigserial primary key, "player_id" int not null, "currency" varchar(8) not null, "seq" int not null, "amount" bigint not null, "source" varchar(16) not null, "reason" varchar(255) not null default '', "ref_type" varchar(64) not null default '', "ref_id" varchar(255) not null default '', "balance" bigint not null, "total" bigint not null, "created_at" timestamptz not null);`,
    );
    this.addSql(
      `create index "ledger_entries_page_index" on "ledger_entries" ("player_id", "currency", "id");`,
    );
    this.addSql(
      `alter table "ledger_entries" add constraint "ledger_entries_seq_unique" unique ("player_id", "currency", "seq");`,
    );
    this.addSql(
      `create unique index ledger_entries_ref_unique on ledger_entries (player_id, currency, source, ref_type, ref_id) where ref_id <> '' and source <> 'award';`,
    );

    this.addSql(
      `create table "wallets" ("player_id" int not null, "currency" varchar(8) not null, "balance" bigint not null default '0', "total" bigint not null default '0', "entries" int not null default 0, primary key ("player_id", "currency"));`,
    );

    this.addSql(
      `create table "wallet_differences" ("player_id" int not null, "currency" varchar(8) not null, "problems" jsonb not null, "found_at" timestamptz not null, "seen_at" timestamptz not null, primary key ("player_id", "currency"));`,
    );

    this.addSql(
      `create table "wallet_rounds" ("id" serial primary key, "started_at" timestamptz not null, "finished_at" timestamptz null, "cursor" int not null default 0, "num_wallets" int not null default 0, "num_entries" bigint not null default '0', "num_differences" int not null default 0);`,
    );

    this.addSql(
      `alter table "ledger_entries" add constraint "ledger_entries_amount_check" check (amount <> 0);`,
    );
    this.addSql(
      `alter table "ledger_entries" add constraint "ledger_entries_balance_check" check (balance >= 0);`,
    );
    this.addSql(
      `alter table "ledger_entries" add constraint "ledger_entries_currency_check" check (currency in ('embers', 'ingots'));`,
    );
    this.addSql(
      `create or replace function "ledger_entries_ledger_entries_frozen_fn"() returns trigger as $$ begin raise exception 'ledger entries are only appended to'; end; $$ language plpgsql;`,
    );
    this.addSql(
      `create trigger "ledger_entries_frozen" BEFORE DELETE OR UPDATE on "ledger_entries" for each ROW execute function "ledger_entries_ledger_entries_frozen_fn"();`,
    );
    // TRUNCATE has its own trigger, which the schema comparison does not see.
    this.addSql(
      `create trigger "ledger_entries_whole" before truncate on "ledger_entries" for each statement execute function "ledger_entries_ledger_entries_frozen_fn"();`,
    );

    this.addSql(
      `alter table "wallets" add constraint "wallets_balance_check" check (balance >= 0);`,
    );
    this.addSql(
      `alter table "wallets" add constraint "wallets_total_check" check (total >= balance or currency = 'ingots');`,
    );
    this.addSql(
      `alter table "wallets" add constraint "wallets_currency_check" check (currency in ('embers', 'ingots'));`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "award_grants" cascade;`);
    this.addSql(`drop table if exists "ledger_entries" cascade;`);
    this.addSql(`drop function if exists "ledger_entries_ledger_entries_frozen_fn"();`);
    this.addSql(`drop table if exists "wallets" cascade;`);
    this.addSql(`drop table if exists "wallet_differences" cascade;`);
    this.addSql(`drop table if exists "wallet_rounds" cascade;`);
  }
}
