import { Migration } from "@mikro-orm/migrations";

export class Migration20261121111056_branding extends Migration {
  override name = "Migration20261121111056_branding";

  override up(): void | Promise<void> {
    this.addSql(`alter table "messages" add "realm" varchar(63) null;`);

    this.addSql(`alter table "subscribers" add "realm" varchar(63) null;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "messages" drop column "realm";`);

    this.addSql(`alter table "subscribers" drop column "realm";`);
  }
}
