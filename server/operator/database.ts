import type { MikroORM } from "@mikro-orm/postgresql";
import type { Redis } from "ioredis";
import type { OutboxFilter } from "../../db/queries/delivery/outbox.ts";
import type { Config } from "../platform/config/config.ts";
import { presentMessage, type PresentedMessage } from "../features/delivery/domain/outbox.ts";
import type { OperatorCaller } from "../http/auth/auth.ts";
import type { AccountStores } from "./accounts.ts";
import type { Operator } from "./session/identity.ts";
import type { AuditedChange } from "./audit.ts";
import type { StoreState } from "./health/stores.ts";
import { shownReconciliation, type ReconciliationView } from "./wallets/wallets.ts";

/** Timeout after which the database counts as unavailable. */
const pingLimitMs = 1_500;
/** Maximum characters of an audit record's target. */
const maxTarget = 255;

/** Queries of the operator process. */
export function createDatabase(config: Config, redis: Redis) {
  const orm = new OrmOnDemand(config);
  const open = () => orm.open();
  return {
    open,
    state: async (): Promise<StoreState> => {
      const { readDatabaseState } = await import("../../db/orm.ts");
      return readDatabaseState(await open(), pingLimitMs);
    },
    findOperator: async (hash: string): Promise<Operator | null> => {
      const { findActiveOperator } = await import("../../db/queries/operator/operators.ts");
      return findActiveOperator((await open()).em.fork(), hash);
    },
    isTokenUsed: async (id: string): Promise<boolean> => {
      const { isTokenUsed } = await import("../../db/queries/sessions/used-tokens.ts");
      return isTokenUsed((await open()).em.fork(), id);
    },
    useToken: async (id: string, expiresAt: Date): Promise<boolean> => {
      const { useToken } = await import("../../db/queries/sessions/used-tokens.ts");
      return useToken((await open()).em.fork(), id, expiresAt);
    },
    outbox: async (filter: OutboxFilter): Promise<PresentedMessage[]> => {
      const { listOutbox } = await import("../../db/queries/delivery/outbox.ts");
      const messages = await listOutbox((await open()).em.fork(), filter);
      const hasContent = config.APP_ENV !== "production";
      return messages.map((message) => presentMessage(message, hasContent));
    },
    wallets: async (): Promise<ReconciliationView> => {
      const { readReconciliation } =
        await import("../../db/queries/wallet/ledger-reconciliation.ts");
      return readReconciliation((await open()).em.fork(), shownReconciliation);
    },
    audit: async (caller: OperatorCaller, { action, target, reason = "" }: AuditedChange) => {
      const { insertAuditEntry } = await import("../../db/queries/operator/operators.ts");
      const entry = { operator: caller.name, action, target: target.slice(0, maxTarget), reason };
      await insertAuditEntry((await open()).em.fork(), entry);
    },
    /** Runs `work` in a transaction, then the callbacks it registered. */
    inStores: async <T>(work: (stores: AccountStores) => Promise<T>): Promise<T> => {
      const later: (() => Promise<unknown>)[] = [];
      const afterwards = (step: () => Promise<unknown>) => void later.push(step);
      const { em } = await open();
      const result = await em.fork().transactional((own) => work({ em: own, redis, afterwards }));
      for (const step of later) await step();
      return result;
    },
    close: () => orm.close(),
  };
}

/** Connects on first use: pages and metrics work while Postgres is down. */
class OrmOnDemand {
  readonly #config: Config;
  #opened: Promise<MikroORM> | null = null;

  constructor(config: Config) {
    this.#config = config;
  }

  open(): Promise<MikroORM> {
    this.#opened ??= this.#connect().catch((error: unknown) => {
      this.#opened = null;
      throw error;
    });
    return this.#opened;
  }

  async close(): Promise<void> {
    const orm = await this.#opened?.catch(() => null);
    await orm?.close(true);
  }

  async #connect(): Promise<MikroORM> {
    const { createOrm, usualAnswerMs: answerLimitMs } = await import("../../db/orm.ts");
    return createOrm({ ...this.#config, DATABASE_POOL: 2 }, undefined, { answerLimitMs });
  }
}
