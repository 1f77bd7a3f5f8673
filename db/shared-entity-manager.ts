import type { TransactionOptions } from "@mikro-orm/core";
import { EntityManager } from "@mikro-orm/postgresql";
import type { RequestConnections } from "../server/platform/postgres/connection-shares.ts";

/**
 * Counts its connections against the share of a caller. Forks inside a transaction count nothing, because
 * the transaction already holds their connection.
 */
export class SharedEntityManager extends EntityManager {
  connections: RequestConnections | null = null;

  override async transactional<T>(
    work: (em: this) => T | Promise<T>,
    options?: TransactionOptions,
  ): Promise<T> {
    const run = () => super.transactional(work, options);
    return this.connections === null ? run() : this.connections.transaction(run);
  }
}

/** Runs one statement outside `em.transactional` within the caller's connection share, if `em` has one. */
export function inShare<T>(em: EntityManager, statement: () => Promise<T>): Promise<T> {
  if (!(em instanceof SharedEntityManager) || em.connections === null) return statement();
  return em.connections.statement(statement);
}
