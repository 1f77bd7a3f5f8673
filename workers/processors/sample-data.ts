import { readDirectory } from "../../db/queries/archive/codex-directory.ts";
import { projectionOf } from "../../db/projections/refresh.ts";
import { ImportRefused } from "../../importers/envelope/contract.ts";
import { importEnvelope } from "../../importers/pipeline/import.ts";
import type { ImportDeps } from "./codex-import.ts";
import type { PayloadOf, sampleData } from "../queues.ts";

/**
 * Imports the sample game, patch by patch, where nobody else's data is. What an earlier attempt imported stays
 * as it is; a game that has all patches costs one look at the directory.
 */
export async function importSample(
  { game }: PayloadOf<typeof sampleData>,
  deps: ImportDeps,
): Promise<{ imported: number }> {
  // Loaded here alone: most starts find everything in place.
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
      });
    } catch (error) {
      if (!(error instanceof ImportRefused)) throw error;
      // An older sample is there, or patches of the user's own: these stay.
      deps.log.warn({ reason: error.message.slice(0, 500) }, "the sample game stays as it is");
      return { imported };
    }
    imported++;
  }
  deps.log.info({ game, patches: imported }, "sample game imported");
  return { imported };
}
