import type { Archive } from "./domain/archive.ts";
import type { DiffPair } from "../../../db/queries/archive/codex-diff.ts";
import type { CodexBranch } from "../../../db/queries/archive/codex-directory.ts";
import { AppError } from "../../platform/errors.ts";
import { comparePairs, inOrder, opOf, pairsOf, summaryOf, type PatchRange } from "./diffs.ts";
import type { ChangelogPage } from "./changelog-page.ts";
import { markdownEntry, markdownPage } from "./markdown.ts";
import { patchOf, stateKey, type Place } from "./places.ts";
import { headOf, presentPatchRef } from "./present.ts";
import type { Outcome } from "./compared.ts";
import { createTimeSlice, createWriter } from "./writer.ts";

/** Maximum entries of a page (COD-11), and characters after which a page ends early. */
const maxLimit = 1_000;
const maxLength = 8 * 1024 * 1024;

export interface ChangelogInput {
  format: string;
  type?: string;
  from?: string;
  to?: string;
  limit: number;
  cursor: number;
}

/** Formats one entry for the page. */
export type WriteEntry = (id: string, outcome: Outcome) => string;

interface Format {
  writeEntry: WriteEntry;
  /** The page, piece by piece. */
  writePage(page: ChangelogPage): Iterable<string>;
}

const json: Format = { writeEntry: jsonEntry, writePage: jsonPage };
const markdown: Format = { writeEntry: markdownEntry, writePage: markdownPage };
const formats = new Map([
  ["json", json],
  ["markdown", markdown],
  ["md", markdown],
]);

export const isMarkdown = (format: string) => format !== "json";

/** Throws `codex:changelog_params` for parameters that COD-12 refuses. */
export function checkChangelogInput({ format, from, to, limit, cursor }: ChangelogInput): void {
  const refuse = (parameter: string) =>
    new AppError("codex:changelog_params", { params: { parameter } });
  if (!formats.has(format)) throw refuse("format");
  if (limit < 1) throw refuse("limit");
  if (cursor < 0) throw refuse("cursor");
  if (from !== undefined && to === undefined) throw refuse("to");
}

/** Both versions: (from, to]. `to` alone: the step to it. Neither: the latest step. */
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
  // An import may rename the game, and patch notes have its name in the title.
  const title = kind === "markdown" ? place.game.displayName : "";
  const key = `log ${JSON.stringify([place.branch.id, states, kind, title, type, limit, cursor])}`;
  const { writeEntry, writePage } = formats.get(input.format) ?? json;
  const build = () =>
    archive.builds.run(async () => {
      const page = await readPage(archive, { place, range, type, limit, cursor, writeEntry });
      const writer = createWriter();
      const slice = createTimeSlice();
      for (const part of writePage(page)) {
        writer.add(part);
        if (slice.isOver()) await slice.yield();
      }
      return writer.finish();
    });
  return archive.bodies.fetch(key, build);
}

export interface PageInput {
  place: Place;
  range: PatchRange;
  type: string | undefined;
  limit: number;
  cursor: number;
  writeEntry: WriteEntry;
}

/** The entries from `cursor` on; builds a document, so it is called behind `archive.builds`. */
export async function readPage(archive: Archive, input: PageInput): Promise<ChangelogPage> {
  const { place, range, limit, cursor, type, writeEntry } = input;
  const all = await pairsOf(archive, place, range);
  const pairs = inChangelogOrder(type === undefined ? all : all.filter((p) => p.type === type));
  const types: ChangelogPage["types"] = new Map();
  let [shown, length] = [0, 0];
  for await (const { pair, outcome } of comparePairs(
    archive,
    pairs.slice(cursor, cursor + limit),
  )) {
    const group = types.get(pair.type) ?? { added: [], removed: [], changed: [] };
    types.set(pair.type, group);
    const text = writeEntry(pair.key, outcome);
    group[outcome.op].push(text);
    shown++;
    length += text.length;
    if (length >= maxLength) break;
  }
  const end = cursor + shown;
  const next = shown > 0 && end < pairs.length ? end : null;
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

function jsonEntry(id: string, { op: _op, ...said }: Outcome): string {
  return JSON.stringify({ id, ...said });
}

function* jsonPage({ place, range, types, ...rest }: ChangelogPage): Generator<string> {
  const head = {
    game: place.game.slug,
    branch: place.branch.slug,
    from: range.from === null ? null : presentPatchRef(range.from),
    to: presentPatchRef(range.to),
  };
  yield `${JSON.stringify(head).slice(0, -1)},"types":{`;
  let beforeType = "";
  for (const [type, group] of types) {
    yield `${beforeType}${JSON.stringify(type)}:`;
    let before = "{";
    for (const [op, texts] of Object.entries(group)) {
      yield `${before}"${op}":[`;
      for (const [at, text] of texts.entries()) yield at === 0 ? text : `,${text}`;
      before = "],";
    }
    yield "]}";
    beforeType = ",";
  }
  yield `},${JSON.stringify(rest).slice(1)}`;
}
