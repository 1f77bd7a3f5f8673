import { cutText } from "../../platform/text/cut-text.ts";
import { escapeHtml } from "../../platform/text/markup.ts";
import type { ChangelogPage } from "./changelog-page.ts";
import type { Outcome } from "./compared.ts";

/** Maximum fields of an entity in a feed; the page of the patch has all. */
const maxFields = 6;
/** Characters of one value. */
const maxValueLength = 80;

/** One patch as HTML: a list per type of the entries, which are HTML already. */
export function changesHtml(page: ChangelogPage): string {
  const { types, summary, count, next } = page;
  const parts = [
    `<p>${summary.added} added, ${summary.changed} changed, ${summary.removed} removed.</p>`,
  ];
  for (const [type, { added, changed, removed }] of types) {
    const items = [...added, ...changed, ...removed].map((entry) => `<li>${entry}</li>`);
    parts.push(`<h3>${escapeHtml(type.replaceAll("_", " "))}</h3><ul>${items.join("")}</ul>`);
  }
  if (next !== null) parts.push(`<p>And ${count - next} more.</p>`);
  return parts.join("\n");
}

/** An entity with a link and its first fields. */
export function entryHtml(outcome: Outcome, address: string): string {
  const name = `<a href="${escapeHtml(address)}">${escapeHtml(outcome.name)}</a>`;
  if (outcome.op === "added") return `New: ${name}`;
  if (outcome.op === "removed") return `Removed: ${escapeHtml(outcome.name)}`;
  const fields = outcome.changes
    .slice(0, maxFields)
    .map(({ path, before, after }) => `${escapeHtml(path)}: ${value(before)} → ${value(after)}`);
  const left = outcome.changes.length - fields.length;
  if (left > 0) fields.push(`${left} more`);
  return `${name}: ${fields.join("; ")}`;
}

function value(json: unknown): string {
  return escapeHtml(cutText(JSON.stringify(json), maxValueLength, "…"));
}
