import { Migration } from "@mikro-orm/migrations";

export class Migration20261126102500_sign_in_times extends Migration {
  override name = "Migration20261126102500_sign_in_times";

  override up(): void | Promise<void> {
    // How sessions from before this were opened is not known: programs that ask for a recent sign-in get one.
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
