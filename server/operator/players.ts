import type { Player } from "../../db/entities/player.ts";
import type { OperatorCaller } from "../http/auth/auth.ts";
import type { AccountStores, describeAccount } from "./accounts.ts";
import { AppError } from "../platform/errors.ts";
import type { Config } from "../platform/config/config.ts";

/** Operator actions on one player; unknown ids throw `player:not_found`. */
export interface PlayerService {
  describe(id: number): Promise<PlayerView>;
  /** Makes a change and writes its audit record in one transaction. */
  change(
    id: number,
    verb: PlayerVerb,
    by: { caller: OperatorCaller; reason: string },
  ): Promise<ChangedPlayer>;
}

export type PlayerView = Awaited<ReturnType<typeof describeAccount>>;
export interface ChangedPlayer {
  id: number;
  name: string;
  [result: string]: unknown;
}

/** Verb of the path -> action in the audit log, as in the console. */
export const playerActions = {
  unlock: "account:unlock",
  restore: "account:restore",
  "revoke-sessions": "account:sign-out",
} as const;
export type PlayerVerb = keyof typeof playerActions;

export interface PlayerServiceOptions {
  config: Config;
  /** Runs `work` with stores in a transaction, then the callbacks it registered. */
  inStores<T>(work: (stores: AccountStores) => Promise<T>): Promise<T>;
}

/** Loads the account functions at the first call, like the database layer. */
export function createPlayerService({ config, inStores }: PlayerServiceOptions): PlayerService {
  const find = async ({ em }: AccountStores, id: number): Promise<Player> => {
    const { findForOperator } = await import("../../db/queries/accounts/accounts.ts");
    const player = await findForOperator(em, { id });
    if (!player) throw new AppError("player:not_found");
    return player;
  };
  return {
    describe: (id) =>
      inStores(async (stores) => {
        const accounts = await import("./accounts.ts");
        return accounts.describeAccount(stores, await find(stores, id), config);
      }),
    change: (id, verb, { caller, reason }) =>
      inStores(async (stores) => {
        const { endSessions, restoreAccount, unlockAccount } = await import("./accounts.ts");
        const { insertAuditEntry } = await import("../../db/queries/operator/operators.ts");
        const changes = {
          unlock: unlockAccount,
          restore: restoreAccount,
          "revoke-sessions": endSessions,
        };
        const player = await find(stores, id);
        const result = await changes[verb](stores, player, config);
        const entry = { operator: caller.name, action: playerActions[verb], reason };
        await insertAuditEntry(stores.em, { ...entry, target: `player ${id}` });
        return { id, name: player.name, ...result };
      }),
  };
}
