import Type from "typebox";
import { reply, routesWith } from "../../http/pipeline/route.ts";
import type { PlayerWallet, WalletPage } from "../../features/wallet/domain/player-wallet.ts";
import type { ReconciliationView } from "../../features/wallet/domain/reconciliation.ts";
import { Id } from "../../platform/schemas.ts";
import { playerWalletPage, walletsPage, walletsPath } from "./page.ts";
import { presentPlayerWallet, presentReconciliation } from "./present.ts";
import { PlayerWalletBody, ReconciliationBody, WalletQuery } from "./schemas.ts";

export interface WalletsDeps {
  wallets(): Promise<ReconciliationView>;
  /** Rejects with `player:not_found`. */
  playerWallet(playerId: number, page: WalletPage): Promise<PlayerWallet>;
}

const defineRoute = routesWith<WalletsDeps>();

/** Wallets and their ledgers (WAL-08, OPS-80). */
export const walletRoutes = [
  defineRoute({
    method: "GET",
    path: walletsPath,
    tag: "Operator",
    summary: "Runs of the ledger reconciliation, and differences, newest first",
    auth: "viewer",
    source: "WAL-08",
    responses: { 200: ReconciliationBody },
    page: walletsPage,
    errors: [],
    handler: async ({ deps }) => reply(200, presentReconciliation(await deps.wallets())),
  }),
  defineRoute({
    method: "GET",
    path: "/operator/players/{id}/wallet",
    tag: "Operator",
    summary: "Balances of a player and the ledger of both currencies, newest first",
    auth: "viewer",
    source: "OPS-80",
    params: Type.Object({ id: Id }),
    query: WalletQuery,
    notFoundCode: "player:not_found",
    responses: { 200: PlayerWalletBody },
    page: playerWalletPage,
    errors: ["player:not_found"],
    handler: async ({ deps, params: { id }, query: { limit, cursor = null } }) => {
      const found = await deps.playerWallet(id, { limit: limit + 1, cursor });
      return reply(200, presentPlayerWallet(id, found, limit));
    },
  }),
];
