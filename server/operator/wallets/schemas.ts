import Type, { type Static } from "typebox";
import { sources } from "../../features/wallet/domain/currencies.ts";
import { PageQuery } from "../../http/pipeline/pagination.ts";
import { Id, Timestamp } from "../../platform/schemas.ts";
import { orNull } from "../schemas.ts";

export const ReconciliationBody = Type.Object({
  num_differences: Type.Integer(),
  differences: Type.Array(
    Type.Object({
      player_id: Type.Integer(),
      currency: Type.String(),
      problems: Type.Array(
        Type.Object({ what: Type.String(), wallet: Type.Integer(), ledger: Type.Integer() }),
      ),
      found_at: Timestamp,
      seen_at: Timestamp,
    }),
  ),
  rounds: Type.Array(
    Type.Object({
      started_at: Timestamp,
      finished_at: orNull(Timestamp),
      num_wallets: Type.Integer(),
      num_entries: Type.Integer(),
      num_differences: Type.Integer(),
    }),
  ),
});

/** Ids of ledger entries are larger than those of other rows. */
const EntryId = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

export const WalletQuery = Type.Object({
  limit: PageQuery.properties.limit,
  cursor: Type.Optional(EntryId),
});

const EntryBody = Type.Object({
  id: EntryId,
  currency: Type.Enum(["embers", "ingots"]),
  amount: Type.Integer({ description: "negative for a debit" }),
  source: Type.Enum([...new Set([...sources.embers, ...sources.ingots])]),
  reason: Type.String(),
  ref_type: Type.String(),
  ref_id: Type.String(),
  created_at: Timestamp,
});
export type EntryBody = Static<typeof EntryBody>;

export const PlayerWalletBody = Type.Object({
  player: Type.Object({ id: Id, name: Type.String() }),
  embers: Type.Object({ balance: Type.Integer(), lifetime: Type.Integer() }),
  ingots: Type.Object({ balance: Type.Integer(), purchased: Type.Integer() }),
  entries: Type.Array(EntryBody, { description: "of both currencies, newest first" }),
  next: Type.Union([EntryId, Type.Null()]),
});
