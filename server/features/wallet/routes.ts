import { listGrants } from "../../../db/queries/wallet/awards.ts";
import { listEntries, readWallet } from "../../../db/queries/wallet/wallets.ts";
import { nameOf } from "../../http/pipeline/idempotent-input.ts";
import { routesWith, reply, type Route } from "../../http/pipeline/route.ts";
import type { Currency } from "./domain/currencies.ts";
import * as s from "./schemas.ts";
import { claimAward } from "./service.ts";
import type { WalletDeps } from "./deps.ts";

const defineRoute = routesWith<WalletDeps>();

/** Grants a list shows at most (WAL-07). */
const maxGrants = 1_000;

const common = { tag: "Wallet", auth: "player" } as const;

const wallet = defineRoute({
  ...common,
  method: "GET",
  path: "/v1/wallet/@me",
  summary: "Read both currencies of the caller",
  source: "document 1, Wallet; WAL-01, WAL-02",
  responses: { 200: s.Wallet },
  errors: [],
  handler: async ({ caller, deps }) => {
    const view = await readWallet(deps.em, caller.playerId);
    return reply(200, { embers: s.presentEmbers(view), ingots: s.presentIngots(view) });
  },
});

const embers = defineRoute({
  ...common,
  method: "GET",
  path: "/v1/embers/@me",
  summary: "Read the caller's Embers, level and progress",
  source: "document 1, Wallet; WAL-01, WAL-02",
  responses: { 200: s.Embers },
  errors: [],
  handler: async ({ caller, deps }) =>
    reply(200, s.presentEmbers(await readWallet(deps.em, caller.playerId))),
});

const ingots = defineRoute({
  ...common,
  method: "GET",
  path: "/v1/ingots/@me",
  summary: "Read the caller's Ingots",
  source: "document 1, Wallet; WAL-06",
  responses: { 200: s.Ingots },
  errors: [],
  handler: async ({ caller, deps }) =>
    reply(200, s.presentIngots(await readWallet(deps.em, caller.playerId))),
});

const awards = defineRoute({
  ...common,
  method: "GET",
  path: "/v1/embers/@me/awards",
  summary: "List the caller's awards, newest first, at most 1,000",
  source: "document 1, Wallet; WAL-07",
  query: s.AwardsQuery,
  responses: { 200: s.Awards },
  errors: [],
  handler: async ({ caller, deps, query }) => {
    const options = { game: query.game ?? null, limit: maxGrants };
    const grants = await listGrants(deps.em, caller.playerId, options);
    return reply(200, { awards: grants.map(s.presentAward) });
  },
});

const claim = defineRoute({
  ...common,
  method: "POST",
  path: "/v1/embers/@me/awards",
  summary: "Claim an award; claiming a one-time award again is harmless",
  source: "document 1, Wallet; WAL-03, WAL-04, HTTP-15",
  idempotent: true,
  body: s.ClaimBody,
  responses: { 200: s.Claimed, 201: s.Claimed },
  errors: [
    "auth:token_invalid",
    "award:not_found",
    "award:not_claimable",
    "award:daily_limit",
    "wallet:limit_reached",
  ],
  handler: async ({ caller, deps, body, memoizeForKey }) => {
    const award = { awardId: body.award_id, game: body.game, ref: await nameOf(memoizeForKey) };
    const { isNew, grant, wallet: view } = await claimAward(deps, caller, award);
    const { repeatable: _, ...shown } = s.presentAward(grant);
    const answer = { granted: isNew, ...shown, wallet: s.presentEmbers(view) };
    return isNew ? reply(201, answer) : reply(200, answer);
  },
});

const ledgerRoute = (currency: Currency) =>
  defineRoute({
    ...common,
    method: "GET",
    path: `/v1/${currency}/@me/ledger`,
    summary: `List the ledger of the caller's ${currency === "embers" ? "Embers" : "Ingots"}, newest first`,
    source: "document 1, Ledger entry; WAL-07",
    query: s.LedgerQuery,
    responses: { 200: currency === "embers" ? s.EmbersLedger : s.IngotsLedger },
    errors: [],
    handler: async ({ caller, deps, query }) => {
      const key = { playerId: caller.playerId, currency };
      const page = { before: query.before ?? null, limit: query.limit };
      const entries = await listEntries(deps.em, key, page);
      return reply(200, { entries: entries.map(s.presentEntry), limit: query.limit });
    },
  });

export const walletRoutes: Route<WalletDeps>[] = [
  wallet,
  embers,
  awards,
  claim,
  ledgerRoute("embers"),
  ingots,
  ledgerRoute("ingots"),
];
