import type { Adapter, ImportTarget } from "../adapters/adapter.ts";
import type { ImportEnvelope } from "../envelope/contract.ts";
import { openEnvelopeFile } from "../envelope/envelope-file.ts";
import { readEnvelopes } from "../envelope/envelope-folder.ts";

/** A source of import envelopes; a folder without an adapter holds envelope files. */
export type ImportSource = { file: string } | { folder: string; adapter: Adapter | null };

/**
 * Step 1: source files or an envelope file -> one import envelope per patch, in import order. Entities stay
 * in the source and are read one at a time. Throws ImportRefused for a source that is no envelope.
 */
export async function* parse(
  source: ImportSource,
  target: ImportTarget,
  signal?: AbortSignal,
): AsyncGenerator<ImportEnvelope> {
  if ("file" in source) yield await parseFile(source.file, signal);
  else if (source.adapter === null) yield* readEnvelopes(source.folder, signal);
  else yield* source.adapter.read(source.folder, target);
}

/** Step 1 for one envelope file. */
export const parseFile = (path: string, signal?: AbortSignal): Promise<ImportEnvelope> =>
  openEnvelopeFile(path, signal);
