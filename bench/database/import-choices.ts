import type { MikroORM } from "@mikro-orm/postgresql";
import type { ImportEnvelope } from "../../importers/envelope/contract.ts";
import { importEnvelope } from "../../importers/pipeline/import.ts";
import type { Choice } from "./choice.ts";

/** Imports of a whole game. `source` is an envelope that is already in the archive. */
export function importChoices(orm: MikroORM, source: ImportEnvelope): Choice[] {
  const run = (envelope: ImportEnvelope) =>
    importEnvelope(orm.em.fork(), envelope, { now: Date.now() });
  const { digests: _, ...withoutDigests } = source;
  return [
    {
      name: "the same import again: digests of its texts; each entity read",
      byHand: () => run(source),
      plain: () => run(withoutDigests),
    },
  ];
}
