import type { EntityManager } from "@mikro-orm/postgresql";
import type { ImportEnvelope } from "../envelope/contract.ts";
import { findHeaderProblems } from "../envelope/header.ts";
import { KeptKeys } from "../envelope/kept-keys.ts";
import { ProblemList } from "../envelope/problem-list.ts";
import { indexAssets, type AssetIndex, type AssetProgress } from "./check/asset-index.ts";
import { prepareEntity, type PreparedEntity } from "./check/prepare-entity.ts";
import { prepareTexts, type PreparedTexts } from "./check/texts.ts";

export interface CheckedEnvelope {
  envelope: ImportEnvelope;
  texts: PreparedTexts;
  assets: AssetIndex;
  /** Every problem so far; `checkEntity` adds to it. */
  problems: ProblemList;
  /** Keys that kept their spelling so far; `checkEntity` adds to it. */
  keptKeys: KeptKeys;
  /** Checks one entity of the stream; null after a problem. `number` counts from 1. */
  checkEntity(source: unknown, number: number): Promise<PreparedEntity | null>;
}

/**
 * Step 2: an import envelope -> its checked parts and every problem, with place and reason. Header, texts and
 * assets are checked here, entities as the plan reads them. The list of problems is bounded and counts the rest.
 */
export async function check(
  em: EntityManager,
  envelope: ImportEnvelope,
  problems: ProblemList,
  progress: AssetProgress = {},
): Promise<CheckedEnvelope> {
  const texts = prepareTexts(envelope.locales, problems);
  const assets = await indexAssets(em, envelope, problems, progress);
  const keptKeys = envelope.hasSnakeKeys === true ? new KeptKeys() : null;
  const context = { english: texts.english, assets, problems, keptKeys };
  return {
    envelope,
    texts,
    assets,
    problems,
    keptKeys: keptKeys ?? new KeptKeys(),
    checkEntity: (source, number) => prepareEntity(source, number, context),
  };
}

/** The part of step 2 that needs no database: the members before the lists, and problems of opening the file. */
export function checkHeader({ header, problems: found = [] }: ImportEnvelope): ProblemList {
  const problems = new ProblemList();
  for (const { entity, place, problem } of found) problems.add(entity, place, problem);
  for (const { place, problem } of findHeaderProblems(header))
    problems.add("envelope", place, problem);
  return problems;
}
