import type { EntityManager, MikroORM } from "@mikro-orm/postgresql";
import type { Redis } from "ioredis";
import type { Config } from "../platform/config/config.ts";
import type { PoolCounts } from "../platform/metrics/metrics.ts";
import type { FaultRecorder } from "../platform/faults/recorder.ts";
import type { MessageFilter, OperatorMessage } from "../features/delivery/domain/outbox.ts";
import type { ImportFilter } from "../features/archive/domain/import-records.ts";
import type { AccountStores } from "../features/accounts/domain/accounts.ts";
import type { Operator } from "./session/identity.ts";
import type { AuditStore } from "./audit.ts";
import type { StoreState } from "./health/stores.ts";
import type { PlayerWallet, WalletPage } from "../features/wallet/domain/player-wallet.ts";
import type { ReconciliationView } from "../features/wallet/domain/reconciliation.ts";

/** Queries of the operator process. */
export function createDatabase(
  config: Config,
  redis: Redis,
  faults: FaultRecorder,
  onPool?: (pool: PoolCounts) => void,
) {
  const orm = new OrmOnDemand(config, onPool);
  const open = () => orm.open();
  return {
    open,
    state: async (limitMs: number): Promise<StoreState> => {
      const { readDatabaseState } = await import("../../db/orm.ts");
      return readDatabaseState(await open(), limitMs);
    },
    findOperator: async (hash: string): Promise<Operator | null> => {
      const { operatorOf } = await import("../features/operators/domain/operators.ts");
      return operatorOf((await open()).em.fork(), hash);
    },
    isTokenUsed: async (id: string): Promise<boolean> => {
      const { endedTokens } = await import("../features/sessions/domain/ended-tokens.ts");
      return endedTokens.has((await open()).em.fork(), id);
    },
    useToken: async (id: string, expiresAt: Date): Promise<boolean> => {
      const { endedTokens } = await import("../features/sessions/domain/ended-tokens.ts");
      return endedTokens.add((await open()).em.fork(), id, expiresAt);
    },
    outbox: async (filter: MessageFilter): Promise<OperatorMessage[]> => {
      const { viewMessages } = await import("../features/delivery/domain/outbox.ts");
      const hasContent = config.APP_ENV !== "production";
      return viewMessages((await open()).em.fork(), filter, hasContent);
    },
    playerMessages: async (playerId: number, page: Pick<MessageFilter, "limit" | "cursor">) => {
      const { viewPlayerMessages } = await import("../features/delivery/domain/player-messages.ts");
      const hasContent = config.APP_ENV !== "production";
      return viewPlayerMessages((await open()).em.fork(), playerId, page, hasContent);
    },
    playerWallet: async (playerId: number, page: WalletPage): Promise<PlayerWallet> => {
      const { viewPlayerWallet } = await import("../features/wallet/domain/player-wallet.ts");
      return viewPlayerWallet((await open()).em.fork(), playerId, page);
    },
    wallets: async (): Promise<ReconciliationView> => {
      const { viewReconciliation } = await import("../features/wallet/domain/reconciliation.ts");
      return viewReconciliation((await open()).em.fork());
    },
    changes: changesIn(open),
    imports: async (filter: ImportFilter) => {
      const { viewImports } = await import("../features/archive/domain/import-records.ts");
      return viewImports((await open()).em.fork(), filter);
    },
    /** Runs `work` in a transaction, then the callbacks it registered. */
    inStores: async <T>(work: (stores: AccountStores) => Promise<T>): Promise<T> => {
      const later: (() => Promise<unknown>)[] = [];
      const afterwards = (step: () => Promise<unknown>) => void later.push(step);
      const { em } = await open();
      const inStore = (own: EntityManager) => work({ em: own, redis, faults, afterwards });
      const result = await em.fork().transactional(inStore);
      for (const step of later) await step();
      return result;
    },
    close: () => orm.close(),
  };
}

const changesIn = (open: () => Promise<MikroORM>): AuditStore => ({
  begin: async (change) => {
    const { recordChange } = await import("../features/operators/domain/operators.ts");
    return recordChange((await open()).em.fork(), change);
  },
  end: async (id, end) => {
    const { endChange } = await import("../features/operators/domain/operators.ts");
    await endChange((await open()).em.fork(), id, end);
  },
});

/** Connects on first use: pages and metrics work while Postgres is down. */
class OrmOnDemand {
  readonly #config: Config;
  readonly #onPool: ((pool: PoolCounts) => void) | undefined;
  #opened: Promise<MikroORM> | null = null;

  constructor(config: Config, onPool?: (pool: PoolCounts) => void) {
    this.#config = config;
    this.#onPool = onPool;
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
    return createOrm({ ...this.#config, DATABASE_POOL: 2 }, undefined, {
      answerLimitMs,
      onPool: this.#onPool,
    });
  }
}
