import type { EntityManager } from "@mikro-orm/postgresql";
import { setStatementTimeout } from "../../../../db/prepared.ts";
import {
  advanceSequences,
  endSessions,
  finishRestore,
  planSequences,
  playerSequence,
  voidOneTimeCredentials,
} from "../../../../db/queries/backup/restores.ts";
import { recordChange } from "../../operators/domain/operators.ts";
import type { Manifest } from "./manifest.ts";
import { BackupRefused } from "./refusal.ts";

/** What a person decides at a restore. */
export interface RestoreChoices {
  /** How many ids of each kind may have been given out since the backup. */
  skipIds: number;
  /** End every session: some may have been ended since the backup. */
  endsSessions: boolean;
  now: Date;
}

export const usualSkippedIds = 1_000_000;
export const maxSkippedIds = 1_000_000_000;
const statementSeconds = 3_600;

/**
 * Ends the restore in one transaction: ids and tokens that were given out since the backup must harm nobody (BOOT-52).
 * Returns the number of sessions that it ended.
 */
export function settle(
  em: EntityManager,
  manifest: Manifest,
  { skipIds, endsSessions, now }: RestoreChoices,
): Promise<number> {
  return em.transactional(async (tx) => {
    await setStatementTimeout(tx, statementSeconds);
    const planned = await planSequences(tx, skipIds);
    const exhausted = planned.find(({ isExhausted }) => isExhausted);
    if (exhausted) throw new BackupRefused("backup:ids_exhausted", exhausted.name);
    await advanceSequences(tx, planned);
    await voidOneTimeCredentials(tx);
    // Tokens of programs were in Redis.
    const numSessionsEnded = await endSessions(tx, { now, consentsOnly: !endsSessions });
    const { id: backup, taken_at, release } = manifest;
    await recordChange(tx, {
      operator: "console",
      action: "backup:restore",
      target: backup,
      detail: { taken_at, release, skip_ids: skipIds, ends_sessions: endsSessions },
    });
    const lost = lostIds(manifest, planned);
    await finishRestore(tx, { backup, takenAt: new Date(taken_at), restoredAt: now, ...lost });
    return numSessionsEnded;
  });
}

/** From the backup on, also if an interrupted restore has advanced the sequence before. */
function lostIds(
  { sequences }: Manifest,
  planned: readonly { name: string; next: number }[],
): { lostFrom: number; lostBelow: number } {
  const atBackup = sequences.find(({ name }) => name === playerSequence);
  const now = planned.find(({ name }) => name === playerSequence);
  if (now === undefined) throw new Error(`${playerSequence} is missing`);
  return { lostFrom: Number(atBackup?.last ?? 0) + 1, lostBelow: now.next + 1 };
}
