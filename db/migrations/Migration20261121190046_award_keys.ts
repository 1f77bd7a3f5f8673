import { Migration } from "@mikro-orm/migrations";

export class Migration20261121190046_award_keys extends Migration {
  override name = "Migration20261121190046_award_keys";

  override up(): void | Promise<void> {
    this.addSql(`alter table "award_grants" drop constraint "award_grants_entry_unique";`);
    this.addSql(`alter table "award_grants" drop constraint "award_grants_pkey";`);
    this.addSql(`drop index "award_grants_player_index";`);
    this.addSql(`alter table "award_grants" drop column "id";`);
    this.addSql(`alter table "award_grants" add primary key ("entry_id");`);
    this.addSql(
      `create index "award_grants_player_index" on "award_grants" ("player_id", "entry_id");`,
    );

    this.addSql(`drop index "ledger_entries_page_index";`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop index "award_grants_player_index";`);
    this.addSql(`alter table "award_grants" drop constraint "award_grants_pkey";`);
    this.addSql(`alter table "award_grants" add "id" bigserial primary key;`);
    this.addSql(
      `alter table "award_grants" add constraint "award_grants_entry_unique" unique ("entry_id");`,
    );
    this.addSql(`create index "award_grants_player_index" on "award_grants" ("player_id", "id");`);

    this.addSql(
      `create index "ledger_entries_page_index" on "ledger_entries" ("player_id", "currency", "id");`,
    );
  }
}
