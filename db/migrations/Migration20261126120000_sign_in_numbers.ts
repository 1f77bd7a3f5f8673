import { Migration } from "@mikro-orm/migrations";

export class Migration20261126120000_sign_in_numbers extends Migration {
  override name = "Migration20261126120000_sign_in_numbers";

  override up(): void | Promise<void> {
    // Existing sessions have no number: a client that requires a new sign-in triggers one.
    this.addSql(`create sequence "sign_in_numbers";`);
    this.addSql(`alter table "token_families" add "sign_in_number" bigint null;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "token_families" drop column "sign_in_number";`);
    this.addSql(`drop sequence "sign_in_numbers";`);
  }
}
