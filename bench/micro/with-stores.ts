import type { MikroORM } from "@mikro-orm/postgresql";
import { createOrm } from "../../db/orm.ts";
import type { Service } from "../../test/support/process.ts";
import { withService } from "../service.ts";

/** A service whose game data is this game, without job workers, and its database. */
export const withArchive = <T>(
  game: string,
  work: (service: Service, orm: MikroORM) => Promise<T>,
): Promise<T> =>
  withService(1, (service) => withDatabase(service, (orm) => work(service, orm)), {
    GAME_DATA_GAME: game,
    JOB_WORKERS: "0",
  });

export async function withDatabase<T>(
  { databaseUrl }: Service,
  work: (orm: MikroORM) => Promise<T>,
): Promise<T> {
  const orm = await createOrm({ DATABASE_URL: databaseUrl, DATABASE_POOL: 2 });
  try {
    return await work(orm);
  } finally {
    await orm.close(true);
  }
}
