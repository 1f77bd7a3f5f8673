import { Migration } from "@mikro-orm/migrations";

/** Database objects that entities cannot declare; later migrations depend on them. */
export class Migration20260101000000_ground extends Migration {
  override name = "Migration20260101000000_ground";

  override up(): void {
    this.addSql("create extension if not exists citext;");
    this.addSql("create extension if not exists pg_trgm;");
    // Processes allocate ids in blocks of 64 (server/features/lobbies/domain/hi-lo-allocator.ts).
    this.addSql("create sequence lobby_ids as integer increment by 64;");
    this.addSql("create sequence seat_ids as integer increment by 64;");
  }

  override down(): void {
    this.addSql("drop sequence seat_ids;");
    this.addSql("drop sequence lobby_ids;");
  }
}
