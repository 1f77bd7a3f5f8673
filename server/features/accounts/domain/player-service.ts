import type { Player } from "../../../../db/entities/player.ts";
import type { FoundPlayer } from "./find-players.ts";
import type { AccountStores, describeAccount } from "./accounts.ts";
import type { Config } from "../../../platform/config/config.ts";
import { recordingUndone, type RecordUndone } from "../../operators/domain/undone-changes.ts";

/** Operator actions on one player; unknown ids throw `player:not_found`. */
export interface PlayerService {
  /** Players with exactly this id, name or address. */
  find(text: string): Promise<FoundPlayer[]>;
  describe(id: number): Promise<PlayerView>;
  /** Makes a change and writes its audit record in one transaction; one that is refused is recorded too. */
  change(
    id: number,
    verb: PlayerVerb,
    by: { operator: string; reason: string; requestId: string },
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
  recordUndone: RecordUndone;
}

/** Loads the account functions at the first call, like the database layer. */
export function createPlayerService({
  config,
  inStores,
  recordUndone,
}: PlayerServiceOptions): PlayerService {
  const find = async ({ em }: AccountStores, id: number): Promise<Player> =>
    (await import("./accounts.ts")).existingAccount(em, id);
  return {
    find: (text) =>
      inStores(async ({ em }) => (await import("./find-players.ts")).findPlayers(em, text)),
    describe: (id) =>
      inStores(async (stores) => {
        const accounts = await import("./accounts.ts");
        return accounts.describeAccount(stores, await find(stores, id), config);
      }),
    change: (id, verb, by) => {
      const entry = { action: playerActions[verb], ...by };
      return recordingUndone(recordUndone, { ...entry, target: `player ${id}` }, () =>
        inStores(async (stores) => {
          const { changeAccount } = await import("./accounts.ts");
          return changeAccount(stores, await find(stores, id), entry, config);
        }),
      );
    },
  };
}
