import { cutText } from "../../server/platform/text/cut-text.ts";
import { readDirectory } from "../../db/queries/archive/codex-directory.ts";
import { projectionOf } from "../../db/projections/refresh.ts";
import { ImportRefused } from "../../importers/envelope/contract.ts";
import { importEnvelope } from "../../importers/pipeline/import.ts";
import type { ImportDeps } from "./codex-import.ts";
import type { PayloadOf, sampleData } from "../queues.ts";

/**
 * Imports the sample game, patch by patch, unless its slug holds other data. Patches of an earlier attempt stay;
 * a complete game costs one query of the directory.
 */
export async function importSample(
  { game }: PayloadOf<typeof sampleData>,
  deps: ImportDeps,
): Promise<{ imported: number }> {
  // Loaded lazily: most starts find a complete game.
  const { readSample, sampleName, sampleVersions } =
    await import("../../importers/samples/cinderhold/sample.ts");
  const [present] = await readDirectory(deps.em, game);
  if (present && present.displayName !== sampleName) return { imported: 0 };
  const versions = [...(present?.branches.values() ?? [])].flatMap(({ patches }) =>
    patches.map(({ versionRaw }) => versionRaw),
  );
  if (sampleVersions().every((version) => versions.includes(version))) return { imported: 0 };
  let imported = 0;
  for await (const envelope of readSample(game)) {
    try {
      await importEnvelope(deps.em, envelope, {
        now: deps.clock.now(),
        project: projectionOf(deps.config.GAME_DATA_GAME),
        isServed: true,
      });
    } catch (error) {
      if (!(error instanceof ImportRefused)) throw error;
      // The game holds an older sample or the user's patches; both are left unchanged.
      const reason = cutText(error.message, 500);
      deps.log.warn(
        { event: "sample_import_refused", game, reason },
        "sample game not imported, the present data stays; nothing to do",
      );
      return { imported };
    }
    imported++;
  }
  deps.log.info({ event: "sample_imported", game, patches: imported }, "sample game imported");
  return { imported };
}
