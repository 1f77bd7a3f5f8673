import { cutText } from "../../server/platform/text/cut-text.ts";
import { UnrecoverableError } from "bullmq";
import { projectionOf } from "../../db/projections/refresh.ts";
import { ImportRefused } from "../../importers/envelope/contract.ts";
import { FileRefused, importableFile } from "../../importers/pipeline/import-folder.ts";
import { importEnvelope, type ImportOptions } from "../../importers/pipeline/import.ts";
import { parseFile } from "../../importers/pipeline/parse.ts";
import type { ImportReport } from "../../importers/pipeline/plan/import-plan.ts";
import type { WithClock, WithConfig, WithEm, WithLog } from "../../server/platform/capabilities.ts";
import type { codexImport, JobWatch, PayloadOf } from "../queues.ts";

/** Maximum number of characters of a refusal stored with the failed job. */
const maxReason = 8_000;

type ImportWatch = Pick<JobWatch, "signal" | "report">;

export interface ImportDeps extends WithEm, WithConfig, WithClock, WithLog {}

/**
 * Imports an envelope file below `IMPORT_DIR` through the four steps of the pipeline (IMP-03). A repeated
 * import writes nothing. An invalid envelope fails for good; a locked game is retried.
 */
export async function importFromFile(
  { game, envelope: path, allowShrink = false }: PayloadOf<typeof codexImport>,
  deps: ImportDeps,
  watch?: ImportWatch,
): Promise<ImportReport> {
  try {
    const file = await importableFile(deps.config.IMPORT_DIR, path);
    const envelope = await parseFile(file, watch?.signal);
    if (envelope.header.game?.slug !== game)
      throw new UnrecoverableError(`the envelope is not of ${game}`);
    const report = await importEnvelope(deps.em, envelope, {
      now: deps.clock.now(),
      allowShrink,
      ...(watch === undefined ? {} : watched(watch)),
      project: projectionOf(deps.config.GAME_DATA_GAME),
      isServed: true,
    });
    deps.log.info({ event: "import_finished", report }, "game data imported");
    return report;
  } catch (error) {
    if (error instanceof ImportRefused || error instanceof FileRefused)
      throw new UnrecoverableError(cutText(error.message, maxReason));
    throw error;
  }
}

function watched({ signal, report }: ImportWatch): Pick<ImportOptions, "signal" | "onProgress"> {
  return {
    signal,
    onProgress: (phase, done, total) =>
      report({ phase, done, total, progress: Math.floor((100 * done) / Math.max(total, done, 1)) }),
  };
}
