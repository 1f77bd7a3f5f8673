import type { EntityManager } from "@mikro-orm/postgresql";
import { createOrm, migrate } from "../../db/orm.ts";
import { insertAuditEntry } from "../../db/queries/operators.ts";
import { borrowStores } from "../boot/stores.ts";
import type { Config } from "../core/config.ts";
import { silentLogger } from "../core/logger.ts";

/** Against the stores of the running service, or started for this command alone. */
export async function inDatabase<T>(
  config: Config,
  work: (em: EntityManager) => Promise<T>,
): Promise<T> {
  const stores = await borrowStores(config, silentLogger);
  try {
    const orm = await createOrm({ DATABASE_URL: stores.databaseUrl, DATABASE_POOL: 2 });
    try {
      await migrate(orm);
      return await orm.em.fork().transactional(work);
    } finally {
      await orm.close(true);
    }
  } finally {
    await stores.stop();
  }
}

/** Writes down what a command changed (OPS-02). */
export function audit(
  em: EntityManager,
  action: string,
  target: string,
  more: { reason: string; detail: Record<string, unknown> } = { reason: "", detail: {} },
): Promise<void> {
  return insertAuditEntry(em, { operator: "console", action, target, ...more });
}
