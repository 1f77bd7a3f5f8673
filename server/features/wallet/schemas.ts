import Type, { type Static } from "typebox";
import type { Grant } from "../../../db/queries/wallet/awards.ts";
import type { Entry, WalletView } from "../../../db/queries/wallet/wallets.ts";
import { timestamp } from "../../platform/time/clock.ts";
import { sources } from "./domain/currencies.ts";
import { Timestamp } from "../../platform/schemas.ts";

/** Entries of a page of a ledger (document 1, Endpoints / Wallet). */
const ledgerPage = { minimum: 1, maximum: 200, default: 50 };

const Level = Type.Object(
  {
    ord: Type.Integer(),
    name: Type.String(),
    threshold: Type.Integer({ description: "lifetime Embers needed" }),
  },
  { title: "Level" },
);

export const Embers = Type.Object(
  {
    balance: Type.Integer({ minimum: 0, description: "spendable" }),
    lifetime: Type.Integer({ minimum: 0, description: "total ever earned; never decreases" }),
    level: Level,
    next_level: Type.Union([Level, Type.Null()]),
    progress: Type.Number({ minimum: 0, maximum: 1, description: "progress to next_level" }),
  },
  { title: "Embers" },
);

export const Ingots = Type.Object(
  {
    balance: Type.Integer({ minimum: 0, description: "spendable" }),
    purchased: Type.Integer({ minimum: 0, description: "total ever credited; never decreases" }),
  },
  { title: "Ingots" },
);

export const Wallet = Type.Object({ embers: Embers, ingots: Ingots }, { title: "Wallet" });

export const AwardsQuery = Type.Object({ game: Type.Optional(Type.String()) });

const Award = Type.Object(
  {
    award_id: Type.String(),
    game: Type.String(),
    ember_value: Type.Integer({ description: "value at the time of the grant" }),
    repeatable: Type.Boolean(),
    granted_at: Timestamp,
  },
  { title: "Award" },
);

export const Awards = Type.Object({ awards: Type.Array(Award) });

export const ClaimBody = Type.Object({
  award_id: Type.String({ minLength: 1, maxLength: 255 }),
  game: Type.String({ minLength: 1, maxLength: 64 }),
});

export const Claimed = Type.Object(
  {
    granted: Type.Boolean({
      description: "false: it had been earned before, so nothing was credited",
    }),
    award_id: Type.String(),
    game: Type.String(),
    ember_value: Type.Integer(),
    granted_at: Timestamp,
    wallet: Embers,
  },
  { title: "ClaimedAward" },
);

export const LedgerQuery = Type.Object({
  limit: Type.Integer(ledgerPage),
  before: Type.Optional(Type.Integer({ description: "id of the last entry of the previous page" })),
});

const ledgerOf = (title: string, names: readonly string[]) =>
  Type.Object({
    entries: Type.Array(
      Type.Object(
        {
          id: Type.Integer(),
          amount: Type.Integer({ description: "negative for a debit" }),
          source: Type.Enum([...names]),
          reason: Type.String(),
          ref_type: Type.String(),
          ref_id: Type.String(),
          created_at: Timestamp,
        },
        { title },
      ),
    ),
    limit: Type.Integer(),
  });

export const EmbersLedger = ledgerOf("EmbersEntry", sources.embers);
export const IngotsLedger = ledgerOf("IngotsEntry", sources.ingots);

export function presentEmbers({ embers }: Pick<WalletView, "embers">): Static<typeof Embers> {
  const { balance, total, level, nextLevel } = embers;
  const span = (nextLevel?.threshold ?? 0) - level.threshold;
  // Four decimals, rounded down, so that only the top level is 1 (WAL-02).
  const progress =
    nextLevel === null ? 1 : Math.floor(((total - level.threshold) * 10_000) / span) / 10_000;
  return { balance, lifetime: total, level, next_level: nextLevel, progress };
}

export function presentIngots({ ingots }: WalletView): Static<typeof Ingots> {
  return { balance: ingots.balance, purchased: ingots.total };
}

export function presentAward(grant: Grant): Static<typeof Award> {
  return {
    award_id: grant.awardId,
    game: grant.game,
    ember_value: grant.emberValue,
    repeatable: grant.repeatable,
    granted_at: timestamp(grant.grantedAtMs),
  };
}

export function presentEntry<S extends string>(entry: Entry & { source: S }) {
  return {
    id: entry.id,
    amount: entry.amount,
    source: entry.source,
    reason: entry.reason,
    ref_type: entry.refType,
    ref_id: entry.refId,
    created_at: timestamp(entry.createdAtMs),
  };
}
