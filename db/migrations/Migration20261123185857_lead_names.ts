import { Migration } from "@mikro-orm/migrations";

export class Migration20261123185857_lead_names extends Migration {
  override name = "Migration20261123185857_lead_names";

  override up(): void | Promise<void> {
    this.addSql(`alter table "contact_messages" add "ref" varchar(64) null;`);
    this.addSql(
      `create unique index contact_messages_ref_unique on contact_messages (ref) where ref is not null;`,
    );

    this.addSql(`alter table "feedback" add "ref" varchar(64) null;`);
    this.addSql(`create unique index feedback_ref_unique on feedback (ref) where ref is not null;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "contact_messages" drop column "ref";`);

    this.addSql(`alter table "feedback" drop column "ref";`);
  }
}
