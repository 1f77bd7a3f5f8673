import type { EntityManager } from "@mikro-orm/postgresql";
import { readDirectory } from "../../db/queries/archive/codex-directory.ts";
import { lockGame } from "../../db/queries/archive/codex-import.ts";
import { publish } from "../../db/queries/archive/codex-lease.ts";
import type { ImportEnvelope } from "../envelope/contract.ts";
import type { ProblemList } from "../envelope/problem-list.ts";
import { apply, type ApplyOptions } from "./apply.ts";
import { check, checkHeader } from "./check.ts";
import { checkLimits } from "./check/archive-limits.ts";
import { findPosition } from "./check/patch-position.ts";
import { compareEntities } from "./plan/compare.ts";
import { noStates } from "./plan/compared-states.ts";
import { reportOf, type ImportPlan, type ImportReport } from "./plan/import-plan.ts";
import { plan } from "./plan.ts";

/** Another import of the same game is running; the caller may retry. */
export class ImportBusy extends Error {
  constructor(game: string) {
    super(`import:busy another import of ${game} is running`);
    this.name = "ImportBusy";
  }
}

export interface ImportOptions extends ApplyOptions {
  /** Plans the import and writes nothing. */
  isDryRun?: boolean;
  /** Processes may serve the archive: when the import is done, all of them answer with it (COD-22). */
  isServed?: boolean;
  /** Lets a patch remove more than half of its branch. */
  allowShrink?: boolean;
  /** The game with typed resources; the plan says whether they follow. */
  projectedGame?: string;
  /** Cancels the import and rolls it back, until the commit. */
  signal?: AbortSignal;
  /** `total` is 0 while it is unknown. */
  onProgress?: (phase: "assets" | "entities" | "writing", done: number, total: number) => void;
}

/** Imports one envelope and returns the counts; see `runImport`. */
export async function importEnvelope(
  em: EntityManager,
  envelope: ImportEnvelope,
  options: ImportOptions,
): Promise<ImportReport> {
  return reportOf(await runImport(em, envelope, options));
}

/**
 * Takes one parsed envelope through check, plan and apply, in one transaction under the lock of the game (IMP-03,
 * IMP-04), and returns the plan. A dry run stops after the plan; the same envelope again writes nothing. Throws
 * ImportRefused with every problem, or ImportBusy.
 */
export async function runImport(
  em: EntityManager,
  envelope: ImportEnvelope,
  options: ImportOptions,
): Promise<ImportPlan> {
  const problems = checkHeader(envelope);
  if (problems.count > 0) return refuse(em, envelope, problems, options);
  const { slug } = envelope.header.game;
  return em.transactional(async (tx) => {
    if (!(await lockGame(tx, slug))) throw new ImportBusy(slug);
    return importLocked(tx, envelope, problems, options);
  });
}

async function importLocked(
  em: EntityManager,
  envelope: ImportEnvelope,
  problems: ProblemList,
  options: ImportOptions,
): Promise<ImportPlan> {
  const [game = null] = await readDirectory(em, envelope.header.game.slug);
  const position = findPosition(game, envelope.header, problems);
  if (position !== null) await checkLimits(em, position, problems);
  if (position === null || problems.count > 0) return refuse(em, envelope, problems, options);
  const checked = await check(em, envelope, problems, assetProgress(envelope, options));
  const planned = await plan(em, checked, position, {
    ...options,
    ...entityProgress(envelope, options),
  });
  if (options.isDryRun === true || planned.plan.action === "none") return planned.plan;
  options.onProgress?.("writing", 0, 1);
  await apply(em, planned, options);
  options.onProgress?.("writing", 1, 1);
  if (options.isServed === true) await publish(em, options.signal);
  options.signal?.throwIfAborted();
  return planned.plan;
}

/** Refuses an envelope without a position in the archive, with the problems of all its parts. */
async function refuse(
  em: EntityManager,
  envelope: ImportEnvelope,
  problems: ProblemList,
  options: ImportOptions,
): Promise<never> {
  const checked = await check(em, envelope, problems, assetProgress(envelope, options));
  await compareEntities(em, checked, noStates, entityProgress(envelope, options)).catch(
    (error: unknown) => problems.refuseWith(error),
  );
  problems.refuseIfAny();
  throw new Error("an envelope without a position has a problem");
}

const assetProgress = ({ assets }: ImportEnvelope, { signal, onProgress }: ImportOptions) => ({
  signal,
  onProgress: (done: number) => onProgress?.("assets", done, assets.length),
});

const entityProgress = (
  { entityCount = 0 }: ImportEnvelope,
  { signal, onProgress }: ImportOptions,
) => ({
  signal,
  onProgress: (done: number) => onProgress?.("entities", done, entityCount),
});
