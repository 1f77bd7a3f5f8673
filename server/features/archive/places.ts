import { hash } from "node:crypto";
import type { Archive, ArchiveBody, Games } from "./domain/archive.ts";
import {
  findPatch,
  type CodexBranch,
  type CodexGame,
  type CodexPatch,
} from "../../../db/queries/archive/codex-directory.ts";
import { readGameGeneration } from "../../../db/queries/archive/codex-read.ts";
import { AppError } from "../../platform/errors.ts";
import { IsolationLevel, type EntityManager } from "@mikro-orm/postgresql";

/** A branch and its game. */
export interface Place {
  game: CodexGame;
  branch: CodexBranch;
}

export function placeOf(games: Games, slug: string, branchSlug: string): Place {
  const game = games.get(slug);
  if (game === undefined) throw new AppError("codex:game_not_found");
  const branch = game.branches.get(branchSlug);
  if (branch === undefined) throw new AppError("codex:branch_not_found");
  return { game, branch };
}

/** A version in a query, where a plus may have become a space (COD-13). */
export function patchOf(branch: CodexBranch, version: string): CodexPatch {
  const patch = findPatch(branch, version.replaceAll(" ", "+"));
  if (patch === null) throw new AppError("codex:patch_not_found");
  return patch;
}

/** Maximum rereads during concurrent imports. */
const maxTries = 5;

/** The read has another generation than the branch reference. */
class GenerationChanged extends Error {}

/** Throws unless the generation, read in the same snapshot, is that of the branch reference. */
export function assertPresent({ game }: Place, generation: number): void {
  if (generation !== game.generation) throw new GenerationChanged();
}

/**
 * Reads the present state of a game by one statement, whose generation goes to `assertPresent`. After an unnoticed
 * import, the branch is resolved again.
 */
export async function readAtOnce<T>(
  archive: Archive,
  place: Place,
  read: (em: EntityManager, place: Place) => Promise<T>,
): Promise<T> {
  let current = place;
  for (let attempt = 0; attempt < maxTries; attempt++) {
    try {
      return await read(archive.fork(), current);
    } catch (error) {
      if (!(error instanceof GenerationChanged)) throw error;
      current = placeOf(await archive.reload(), current.game.slug, current.branch.slug);
    }
  }
  throw new AppError("server:unavailable");
}

/** The same by several statements, in one snapshot. */
export function readPresent<T>(
  archive: Archive,
  place: Place,
  read: (em: EntityManager, place: Place) => Promise<T>,
): Promise<T> {
  const options = { isolationLevel: IsolationLevel.REPEATABLE_READ, readOnly: true };
  return readAtOnce(archive, place, (outer, current) =>
    outer.transactional(async (em) => {
      assertPresent(current, await readGameGeneration(em, current.game.id));
      return read(em, current);
    }, options),
  );
}

/** Cache key of a body of the present state; it changes with each import. */
export function presentKey({ branch }: Place, ...parts: (string | number)[]): string {
  let key = branch.present;
  // Length-prefixed, so that the key is unambiguous.
  for (const part of parts)
    key += typeof part === "number" ? ` ${part}` : ` ${part.length} ${part}`;
  return key;
}

/** Cache key of an immutable state. */
export const stateKey = (patch: CodexPatch | null) =>
  patch === null ? "-" : `${patch.id}.${patch.revision}`;

export function finishedBody(content: string | Buffer): ArchiveBody {
  return { content, etag: `"${hash("sha1", content, "base64url")}"` };
}
