import type { TransactionOptions } from "@mikro-orm/core";
import { EntityManager } from "@mikro-orm/postgresql";
import type { RequestConnections } from "../server/platform/postgres/connection-shares.ts";

/**
 * Counts its connections against the share of a caller. Forks inside a transaction count nothing, because
 * the transaction already holds their connection.
 */
export class SharedEntityManager extends EntityManager {
  connections: RequestConnections | null = null;
  /** Runs first in each transaction, which it refuses by throwing. */
  guard: ((em: EntityManager) => Promise<void>) | null = null;

  override async transactional<T>(
    work: (em: this) => T | Promise<T>,
    options?: TransactionOptions,
  ): Promise<T> {
    const { guard } = this;
    const checked = async (em: this) => {
      await guard?.(em);
      return work(em);
    };
    const run = () => super.transactional(guard === null ? work : checked, options);
    return this.connections === null ? run() : this.connections.transaction(run);
  }
}

/** Runs one statement outside `em.transactional` within the caller's connection share, if `em` has one. */
export function inShare<T>(em: EntityManager, statement: () => Promise<T>): Promise<T> {
  if (!(em instanceof SharedEntityManager) || em.connections === null) return statement();
  return em.connections.statement(statement);
}
