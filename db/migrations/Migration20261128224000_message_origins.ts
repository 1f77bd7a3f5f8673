import { Migration } from "@mikro-orm/migrations";

export class Migration20261128224000_message_origins extends Migration {
  override name = "Migration20261128224000_message_origins";

  override up(): void | Promise<void> {
    this.addSql(
      `alter table "messages" add "request_id" varchar(64) null, add "player_id" int null, add "room" varchar(64) null;`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(
      `alter table "messages" drop column "request_id", drop column "player_id", drop column "room";`,
    );
  }
}
