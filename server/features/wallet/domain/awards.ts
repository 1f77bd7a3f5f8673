import type { EntityManager } from "@mikro-orm/postgresql";
import {
  countGrants,
  findAward,
  findFirstGrant,
  findGrantNamed,
  grantAtOnce,
  insertGrant,
  type AwardTerms,
  type Grant,
} from "../../../../db/queries/wallet/awards.ts";
import { lockWallet, type WalletView } from "../../../../db/queries/wallet/wallets.ts";
import { AppError } from "../../../platform/errors.ts";
import { maxBalance } from "./currencies.ts";
import { moveWithin } from "./move.ts";

const dayMs = 86_400_000;

export interface AwardInput {
  playerId: number;
  awardId: string;
  game: string;
  /** Milliseconds since the epoch. */
  now: number;
  /** Claimed by a client, which not every award allows. */
  isClaim: boolean;
  /** Claimed with a guest's token, which must not act for the upgraded account (S8). Default false. */
  isGuest?: boolean;
  /** Idempotency reference: a repeat grants nothing more (HTTP-15); null = none. */
  ref: string | null;
}

export interface Awarded {
  /** False when the award is given once only and was granted before: then `grant` is the first one. */
  isNew: boolean;
  grant: Grant;
}

/**
 * Optimistic grant of an award, in or outside a transaction. Null, with nothing changed, after a conflict:
 * `awardWithin` finds the reason.
 */
export async function awardAtOnce(
  em: EntityManager,
  { now, ...input }: AwardInput,
): Promise<(Awarded & Pick<WalletView, "embers">) | null> {
  const granted = await grantAtOnce(em, { ...input, at: new Date(now), ...dayOf(now) }, maxBalance);
  return granted === null ? null : { isNew: true, ...granted };
}

/**
 * Grants an award; `em` must be in a transaction (WAL-03, WAL-04, S31). Throws `award:not_found`,
 * `award:not_claimable`, `award:daily_limit` with the seconds to the next UTC day.
 */
export async function awardWithin(em: EntityManager, input: AwardInput): Promise<Awarded> {
  const { playerId, awardId, game, now, ref } = input;
  const terms = await readTerms(em, input);
  // A repeat of a granted award needs no lock.
  const before = await findGiven(em, terms, input);
  if (before !== null) return before;
  // From here on the awards of this player are serialized.
  if ((await lockWallet(em, { playerId, currency: "embers" })) === null)
    throw new AppError("player:not_found");
  const meanwhile = await findGiven(em, terms, input);
  if (meanwhile !== null) return meanwhile;
  const { entry } = await moveWithin(em, {
    playerId,
    currency: "embers",
    source: "award",
    amount: terms.emberValue,
    reason: terms.name,
    refType: "award",
    refId: awardId,
    at: new Date(now),
  });
  const { emberValue, repeatable } = terms;
  const grant: Grant = { awardId, game, emberValue, repeatable, grantedAtMs: now };
  await insertGrant(em, { ...grant, playerId, entryId: entry.id, ref });
  return { isNew: true, grant };
}

async function readTerms(
  em: EntityManager,
  { awardId, game, isClaim }: AwardInput,
): Promise<AwardTerms> {
  const terms = await findAward(em, awardId, game);
  if (terms === null) throw new AppError("award:not_found");
  if (isClaim && !terms.clientClaimable) throw new AppError("award:not_claimable");
  return terms;
}

async function findGiven(
  em: EntityManager,
  terms: AwardTerms,
  input: AwardInput,
): Promise<Awarded | null> {
  const known = input.ref === null ? null : await findGrantNamed(em, input.ref);
  if (known !== null) return { isNew: true, grant: known };
  const first = terms.repeatable ? null : await findFirstGrant(em, input);
  if (first !== null) return { isNew: false, grant: first };
  if (terms.repeatable) await requireDailyRoom(em, terms, input);
  return null;
}

/** Refusals that an award of the service itself may skip silently. */
const harmless: ReadonlySet<string> = new Set([
  "award:not_found",
  "award:daily_limit",
  "wallet:limit_reached",
]);

/**
 * Grants an award of a game in the transaction of `em`. Null when an operator disabled it, the daily limit is
 * reached, or the wallet is full; throws `player:not_found`.
 */
export async function awardWhenDue(
  em: EntityManager,
  input: Omit<AwardInput, "isClaim" | "ref">,
): Promise<Awarded | null> {
  try {
    return await awardWithin(em, { ...input, isClaim: false, ref: null });
  } catch (error) {
    // These refusals are thrown before any write, so the transaction can continue.
    if (error instanceof AppError && harmless.has(error.code)) return null;
    throw error;
  }
}

async function requireDailyRoom(
  em: EntityManager,
  { dailyLimit }: AwardTerms,
  { playerId, awardId, game, now }: AwardInput,
): Promise<void> {
  if (dailyLimit === null) return;
  if ((await countGrants(em, { playerId, awardId, game, ...dayOf(now) })) < dailyLimit) return;
  const secondsLeft = Math.ceil((dayMs - (now % dayMs)) / 1_000);
  throw new AppError("award:daily_limit", { params: { retry_after: secondsLeft } });
}

/** The UTC day of an instant. */
function dayOf(now: number): { since: Date; until: Date } {
  const since = now - (now % dayMs);
  return { since: new Date(since), until: new Date(since + dayMs) };
}
