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
  /** A client asks for it, which not every award allows. */
  isClaim: boolean;
  /** By a guest's token, which gives nothing to the account the guest has become (S8). Default false. */
  isGuest?: boolean;
  /** Names a request that may come again, and gets no more the second time (HTTP-15); null = none. */
  ref: string | null;
}

export interface Awarded {
  /** False when the award is given once only, and was by another request: then `grant` is the first one. */
  isNew: boolean;
  grant: Grant;
}

/**
 * Gives an award at once, in a transaction or not, where nothing stands in the way. Null, with nothing
 * changed, otherwise: `awardWithin` finds out what it is.
 */
export async function awardAtOnce(
  em: EntityManager,
  { now, ...input }: AwardInput,
): Promise<(Awarded & Pick<WalletView, "embers">) | null> {
  const granted = await grantAtOnce(em, { ...input, at: new Date(now), ...dayOf(now) }, maxBalance);
  return granted === null ? null : { isNew: true, ...granted };
}

/**
 * Gives an award in the transaction of `em`, which has to be one (WAL-03, WAL-04, S31). Throws
 * `award:not_found`, `award:not_claimable`, `award:daily_limit` with the seconds to the next UTC day.
 */
export async function awardWithin(em: EntityManager, input: AwardInput): Promise<Awarded> {
  const { playerId, awardId, game, now, ref } = input;
  const terms = await readTerms(em, input);
  // What is given already needs no lock: whoever repeats it at once would wait for nothing.
  const before = await findGiven(em, terms, input);
  if (before !== null) return before;
  // From here on the awards of this player come one after another.
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

/**
 * What a request for an award leads to without changing anything: null when the award can be given. Throws what
 * `awardWithin` throws.
 */
export async function findAwarded(em: EntityManager, input: AwardInput): Promise<Awarded | null> {
  return findGiven(em, await readTerms(em, input), input);
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

/** Why an award of the service itself may fall away without harm to what it rewards. */
const harmless: ReadonlySet<string> = new Set([
  "award:not_found",
  "award:daily_limit",
  "wallet:limit_reached",
]);

/**
 * Gives an award that a game brings with it, in the transaction of `em`. Null when an operator has
 * taken it out of use, the day's limit is reached, or the wallet is full; throws `player:not_found`.
 */
export async function awardWhenDue(
  em: EntityManager,
  input: Omit<AwardInput, "isClaim" | "ref">,
): Promise<Awarded | null> {
  try {
    return await awardWithin(em, { ...input, isClaim: false, ref: null });
  } catch (error) {
    // These are found out before anything is written: the transaction goes on.
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
