import type { Archive, ArchiveBody } from "../../../db/archive.ts";
import type { DiffPair } from "../../../db/queries/codex-diff.ts";
import type { CodexBranch } from "../../../db/queries/codex-directory.ts";
import { AppError } from "../../core/errors.ts";
import { comparePairs, inOrder, opOf, pairsOf, summaryOf, type PatchRange } from "./diffs.ts";
import { changelogMarkdown } from "./markdown.ts";
import { finishedBody, patchOf, stateKey, type Place } from "./places.ts";
import { headOf, presentPatchRef } from "./present.ts";
import type { Outcome } from "./compared.ts";

/** Entries of one page (COD-11). */
const maxLimit = 1_000;

export interface ChangelogInput {
  format: string;
  type?: string;
  from?: string;
  to?: string;
  limit: number;
  cursor: number;
}

export interface ChangelogEntry {
  id: string;
  outcome: Outcome;
}

/** A page of a changelog, entries by type in the order added, changed, removed. */
export interface ChangelogPage {
  place: Place;
  range: PatchRange;
  types: Map<string, ChangelogEntry[]>;
  summary: ReturnType<typeof summaryOf>;
  count: number;
  limit: number;
  cursor: number;
  next: number | null;
}

const formats = new Map([
  ["json", changelogJson],
  ["markdown", changelogMarkdown],
  ["md", changelogMarkdown],
]);

export const isMarkdown = (format: string) => format !== "json";

/** Throws `codex:changelog_params` for what COD-12 refuses. */
export function checkChangelogInput({ format, from, to, limit, cursor }: ChangelogInput): void {
  const refuse = (parameter: string) =>
    new AppError("codex:changelog_params", { params: { parameter } });
  if (!formats.has(format)) throw refuse("format");
  if (limit < 1) throw refuse("limit");
  if (cursor < 0) throw refuse("cursor");
  if (from !== undefined && to === undefined) throw refuse("to");
}

/** With both versions (from, to], with `to` alone the step that led to it, with neither the latest step. */
export function rangeOf(branch: CodexBranch, { from, to }: ChangelogInput): PatchRange {
  const last = to === undefined ? headOf(branch) : patchOf(branch, to);
  if (last === null) throw new AppError("codex:patch_not_found");
  if (from !== undefined) return inOrder(patchOf(branch, from), last);
  return { from: branch.patches[branch.patches.indexOf(last) - 1] ?? null, to: last };
}

export function readChangelog(archive: Archive, place: Place, input: ChangelogInput) {
  const range = rangeOf(place.branch, input);
  const limit = Math.min(input.limit, maxLimit);
  const { type, cursor } = input;
  const kind = isMarkdown(input.format) ? "markdown" : "json";
  const states = `${stateKey(range.from)} ${stateKey(range.to)}`;
  const key = `log ${JSON.stringify([place.branch.id, states, kind, type, limit, cursor])}`;
  const build = () =>
    archive.builds.pass(async () => {
      const page = await readPage(archive, { place, range, type, limit, cursor });
      return (formats.get(input.format) ?? changelogJson)(page);
    });
  return archive.bodies.use(key, build, (body) => body);
}

export interface PageInput {
  place: Place;
  range: PatchRange;
  type: string | undefined;
  limit: number;
  cursor: number;
}

/** The entries from `cursor` on; builds a document, so it is called behind `archive.builds`. */
export async function readPage(archive: Archive, input: PageInput): Promise<ChangelogPage> {
  const { place, range, limit, cursor, type } = input;
  const all = await pairsOf(archive, place, range);
  const pairs = inChangelogOrder(type === undefined ? all : all.filter((p) => p.type === type));
  const shown = pairs.slice(cursor, cursor + limit);
  const types = new Map<string, ChangelogEntry[]>();
  for await (const { pair, outcome } of comparePairs(archive, shown)) {
    const entries = types.get(pair.type);
    const entry = { id: pair.key, outcome };
    if (entries === undefined) types.set(pair.type, [entry]);
    else entries.push(entry);
  }
  const next = cursor + limit < pairs.length ? cursor + limit : null;
  const counts = { summary: summaryOf(pairs), count: pairs.length };
  return { place, range, types, ...counts, limit, cursor, next };
}

/** Type, then added, changed, removed, then id (COD-11); pairs come by type and id. */
function inChangelogOrder(pairs: readonly DiffPair[]): DiffPair[] {
  const byType = Map.groupBy(pairs, (pair) => pair.type);
  return [...byType.values()].flatMap((some) => {
    const byOp = Map.groupBy(some, opOf);
    return ["added", "changed", "removed"].flatMap((op) => byOp.get(op as "added") ?? []);
  });
}

function changelogJson(page: ChangelogPage): ArchiveBody {
  const { place, range, types, ...rest } = page;
  const groups = [...types].map(([type, entries]) => {
    const group = { added: [] as unknown[], removed: [] as unknown[], changed: [] as unknown[] };
    for (const { id, outcome } of entries) {
      const { op, ...said } = outcome;
      group[op].push({ id, ...said });
    }
    return [type, group];
  });
  return finishedBody(
    JSON.stringify({
      game: place.game.slug,
      branch: place.branch.slug,
      from: range.from === null ? null : presentPatchRef(range.from),
      to: presentPatchRef(range.to),
      types: Object.fromEntries(groups),
      ...rest,
    }),
  );
}
