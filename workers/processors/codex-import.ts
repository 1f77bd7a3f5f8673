import { UnrecoverableError } from "bullmq";
import { projectionOf } from "../../db/projections/refresh.ts";
import { ImportRefused, type ImportReport } from "../../importers/envelope/contract.ts";
import { openEnvelopeFile } from "../../importers/envelope/envelope-file.ts";
import { importEnvelope, type ImportOptions } from "../../importers/pipeline/import.ts";
import type { WithClock, WithConfig, WithEm, WithLog } from "../../server/platform/capabilities.ts";
import type { codexImport, JobWatch, PayloadOf } from "../queues.ts";

/** Characters of a refusal that are kept with the failed job. */
const maxReason = 8_000;

export interface ImportDeps extends WithEm, WithConfig, WithClock, WithLog {}

/**
 * Imports an envelope file that lies on this machine (IMP-03). A second run finds nothing to do; an envelope
 * with problems is refused for good, a game that is being imported is tried again.
 */
export async function importFromFile(
  { game, envelope: path, allowShrink = false }: PayloadOf<typeof codexImport>,
  deps: ImportDeps,
  watch?: JobWatch,
): Promise<ImportReport> {
  try {
    const envelope = await openEnvelopeFile(path, watch?.signal);
    if (envelope.header.game?.slug !== game)
      throw new UnrecoverableError(`the envelope is not of ${game}`);
    const report = await importEnvelope(deps.em, envelope, {
      now: deps.clock.now(),
      allowShrink,
      ...(watch === undefined ? {} : watched(watch)),
      project: projectionOf(deps.config.GAME_DATA_GAME),
    });
    deps.log.info({ report }, "imported");
    return report;
  } catch (error) {
    if (error instanceof ImportRefused)
      throw new UnrecoverableError(error.message.slice(0, maxReason));
    throw error;
  }
}

function watched({ signal, report }: JobWatch): Pick<ImportOptions, "signal" | "onProgress"> {
  return {
    signal,
    onProgress: (phase, done, total) =>
      report({ phase, done, total, progress: Math.floor((100 * done) / Math.max(total, done, 1)) }),
  };
}
