import type { ArchiveBody } from "../../../db/archive.ts";
import type { ChangelogEntry, ChangelogPage } from "./changelog.ts";
import { finishedBody } from "./places.ts";

/** Characters of one value; patch notes are for reading. */
const maxValueLength = 500;

/** The changelog as patch notes (COD-11): a section per type, with what was added, changed and removed. */
export function changelogMarkdown(page: ChangelogPage): ArchiveBody {
  const { place, range, types, summary, count, cursor, next } = page;
  const versions = [range.from, range.to].flatMap((patch) => (patch === null ? [] : patch.version));
  const lines = [
    `# ${plain(place.game.displayName)} ${versions.join(" → ")}`,
    "",
    `Branch ${place.branch.slug}: ${summary.added} added, ${summary.changed} changed, ${summary.removed} removed.`,
  ];
  if (cursor > 0 || next !== null)
    lines.push("", `Entries ${Math.min(cursor + 1, count)} to ${next ?? count} of ${count}.`);
  for (const [type, entries] of types) lines.push("", `## ${type}`, ...sections(entries));
  return finishedBody(`${lines.join("\n")}\n`);
}

function sections(entries: readonly ChangelogEntry[]): string[] {
  const titles = { added: "Added", changed: "Changed", removed: "Removed" } as const;
  return (["added", "changed", "removed"] as const).flatMap((op) => {
    const some = entries.filter(({ outcome }) => outcome.op === op);
    return some.length === 0 ? [] : ["", `### ${titles[op]}`, "", ...some.flatMap(linesOf)];
  });
}

function linesOf({ id, outcome }: ChangelogEntry): string[] {
  const title = `- **${plain(outcome.name)}** (${code(id)})`;
  if (outcome.op !== "changed") return [title];
  return [
    title,
    ...outcome.changes.map(
      ({ path, before, after }) => `  - ${code(path)}: ${value(before)} → ${value(after)}`,
    ),
  ];
}

function value(json: unknown): string {
  const text = JSON.stringify(json);
  return code(text.length > maxValueLength ? `${text.slice(0, maxValueLength)}…` : text);
}

/** A code span that no backtick inside can end. */
function code(text: string): string {
  const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  const pad = longest > 0 ? " " : "";
  return fence + pad + text.replaceAll(/[\r\n]/g, " ") + pad + fence;
}

/** Names are upstream's: nothing in them is structure or markup. */
function plain(text: string): string {
  return text.replaceAll(/[\r\n]+/g, " ").replaceAll(/[\\`*_{}[\]()<>#+\-!|&~]/g, "\\$&");
}
