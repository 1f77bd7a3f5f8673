import assert from "node:assert/strict";
import { after, before } from "node:test";
import { saveAwards, type AwardTerms } from "../../../../db/queries/wallet/awards.ts";
import {
  operate,
  type OperationName,
} from "../../../../server/features/wallet/domain/operations.ts";
import { startApp, type App } from "../../../support/app.ts";
import { manualClock } from "../../../support/clock.ts";
import { enter, post, tokenOf } from "../../../support/identity.ts";

export interface Embers {
  balance: number;
  lifetime: number;
  level: { ord: number; name: string; threshold: number };
  next_level: { ord: number; name: string; threshold: number } | null;
  progress: number;
}

export interface Ledger {
  entries: { id: number; amount: number; source: string; ref_id: string; created_at: string }[];
  limit: number;
}

export const spark = { ord: 1, name: "Spark", threshold: 0 };
export const kindling = { ord: 2, name: "Kindling", threshold: 100 };
export let app: App;
export const startedAt = Date.parse("2026-03-01T23:59:30.250Z");
export let clock = manualClock(startedAt);

export const terms = (name: string, more: Partial<AwardTerms> = {}): AwardTerms => ({
  awardId: `id.award.${name}`,
  game: "trivia",
  name,
  emberValue: 40,
  repeatable: false,
  dailyLimit: null,
  clientClaimable: true,
  isActive: true,
  ...more,
});

export const define = (...all: AwardTerms[]) => saveAwards(app.deps.em, all);

/** A guest with the calls of this module. */
export async function player() {
  const session = await enter(app);
  const headers = tokenOf(session);
  const { id } = session.player;
  const get = async <T>(path: string): Promise<T> => {
    const { status, body } = await app.client.get(path, { headers });
    assert.equal(status, 200, path);
    return body as T;
  };
  return {
    id,
    headers,
    get,
    embers: () => get<Embers>("/v1/embers/@me"),
    claim: (name: string, game = "trivia", more: Record<string, string> = {}) =>
      post(
        app,
        "/v1/embers/@me/awards",
        { award_id: `id.award.${name}`, game },
        { ...headers, ...more },
      ),
    operate: (name: OperationName, amount: number, refId = "") =>
      operate(app.deps.em, name, {
        playerId: id,
        amount,
        refType: "test",
        refId,
        at: new Date(clock.now()),
      }),
  };
}

/** The service, shortly before midnight. */
export function startsWalletApp(): void {
  before(async () => {
    clock = manualClock(startedAt);
    app = await startApp({ clock, hasJobs: false });
  });
  after(() => app.stop());
}
