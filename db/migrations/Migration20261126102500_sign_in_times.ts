import { Migration } from "@mikro-orm/migrations";

export class Migration20261126102500_sign_in_times extends Migration {
  override name = "Migration20261126102500_sign_in_times";

  override up(): void | Promise<void> {
    // For existing sessions it is unknown how they were created: a client that requires a recent sign-in
    // triggers one.
    this.addSql(
      `alter table "token_families" add "method" varchar(16) null,
        add "authenticated_at" timestamptz null, add "parent" varchar(22) null;`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(
      `alter table "token_families" drop column "method", drop column "authenticated_at",
        drop column "parent";`,
    );
  }
}
