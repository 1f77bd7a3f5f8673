import { Migration } from "@mikro-orm/migrations";

export class Migration20261122212125_request_names extends Migration {
  override name = "Migration20261122212125_request_names";

  override up(): void | Promise<void> {
    this.addSql(`alter table "award_grants" add "ref" varchar(64) null;`);
    this.addSql(
      `create unique index award_grants_ref_unique on award_grants (ref) where ref is not null;`,
    );

    this.addSql(`alter table "word_results" add "ref" varchar(64) null;`);
    this.addSql(
      `create unique index word_results_ref_unique on word_results (ref) where ref is not null;`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "award_grants" drop column "ref";`);

    this.addSql(`alter table "word_results" drop column "ref";`);
  }
}
