import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { ImportEnvelope } from "./contract.ts";
import { openEnvelopeFile } from "./envelope-file.ts";
import { inOrder } from "./patch-order.ts";

const envelopeName = /\.json(?:\.gz)?$/;

/** The envelope files of a folder, in import order. */
export async function* readEnvelopes(
  folder: string,
  signal?: AbortSignal,
): AsyncGenerator<ImportEnvelope> {
  const names = (await readdir(folder)).filter((name) => envelopeName.test(name)).sort();
  const envelopes: ImportEnvelope[] = [];
  for (const name of names) envelopes.push(await openEnvelopeFile(join(folder, name), signal));
  yield* inOrder(envelopes);
}
