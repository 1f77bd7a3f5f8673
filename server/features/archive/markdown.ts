import { cutText } from "../../platform/text/cut-text.ts";
import type { ChangelogPage } from "./changelog-page.ts";
import type { Outcome } from "./compared.ts";

/** Maximum characters of a value in patch notes. */
const maxValueLength = 500;

/** The changelog as patch notes (COD-11): a section per type, with what was added, changed and removed. */
export function* markdownPage(page: ChangelogPage): Generator<string> {
  const { place, range, types, summary, count, cursor, next } = page;
  const versions = [range.from, range.to].flatMap((patch) => (patch === null ? [] : patch.version));
  yield `# ${plain(place.game.displayName)} ${versions.join(" → ")}\n\n`;
  yield `Branch ${place.branch.slug}: ${summary.added} added, ${summary.changed} changed, ${summary.removed} removed.\n`;
  if (cursor > 0 || next !== null)
    yield `\nEntries ${Math.min(cursor + 1, count)} to ${next ?? count} of ${count}.\n`;
  for (const [type, group] of types) {
    yield `\n## ${type}\n`;
    for (const [op, title] of sections)
      if (group[op].length > 0) yield `\n### ${title}\n\n${group[op].join("")}`;
  }
}

const sections = [
  ["added", "Added"],
  ["changed", "Changed"],
  ["removed", "Removed"],
] as const;

export function markdownEntry(id: string, outcome: Outcome): string {
  const title = `- **${plain(outcome.name)}** (${code(id)})\n`;
  if (outcome.op !== "changed") return title;
  const changes = outcome.changes.map(
    ({ path, before, after }) => `  - ${code(path)}: ${value(before)} → ${value(after)}\n`,
  );
  return title + changes.join("");
}

function value(json: unknown): string {
  return code(cutText(JSON.stringify(json), maxValueLength, "…"));
}

/** A code span that is safe against backticks in the text. */
function code(text: string): string {
  const runs = text.match(/`+/g) ?? [];
  const longest = runs.reduce((most, run) => Math.max(most, run.length), 0);
  const fence = "`".repeat(longest + 1);
  const pad = longest > 0 ? " " : "";
  return fence + pad + text.replaceAll(/[\r\n]/g, " ") + pad + fence;
}

/** Escapes upstream names: nothing in them is structure or markup. */
function plain(text: string): string {
  return text.replaceAll(/[\r\n]+/g, " ").replaceAll(/[\\`*_{}[\]()<>#+\-!|&~]/g, "\\$&");
}
