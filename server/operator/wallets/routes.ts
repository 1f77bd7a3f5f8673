import { reply, routesWith } from "../../http/pipeline/route.ts";
import type { ReconciliationView } from "../../features/wallet/domain/reconciliation.ts";
import { presentReconciliation, ReconciliationBody } from "./wallets.ts";

export interface WalletsDeps {
  wallets(): Promise<ReconciliationView>;
}

const defineRoute = routesWith<WalletsDeps>();

/** Wallets compared with their ledgers (WAL-08). */
export const walletRoutes = [
  defineRoute({
    method: "GET",
    path: "/operator/wallets",
    tag: "Operator",
    summary: "Runs of the ledger reconciliation, and differences, newest first",
    auth: "viewer",
    source: "WAL-08",
    responses: { 200: ReconciliationBody },
    errors: [],
    handler: async ({ deps }) => reply(200, presentReconciliation(await deps.wallets())),
  }),
];
