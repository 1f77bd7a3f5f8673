import type { ImportOp, ImportPlan, ImportReport } from "./import-plan.ts";

const signs: Readonly<Record<ImportOp, string>> = { added: "+", changed: "~", removed: "-" };
const actions: Readonly<Record<ImportPlan["action"], string>> = {
  create: "new patch",
  replace: "replaces the data of this patch",
  none: "nothing to write",
};

/** A plan as text for an operator; its last line is that of `formatReport`. */
export function formatPlan(plan: ImportPlan): string {
  const { game, branch, patch, action, fork } = plan;
  const origin = fork === null ? "" : `, new branch from ${fork.parent} ${fork.version}`;
  return [
    `${game} ${branch} ${patch}: ${actions[action]}${origin}`,
    ...typeLines(plan),
    ...textLines(plan),
    ...assetLines(plan),
    ...rebuildLines(plan),
    ...formatChanges(plan).map((line) => `  ${line}`),
    formatReport(plan),
  ].join("\n");
}

export function formatReport(report: ImportReport): string {
  const { game, branch, patch, added, changed, removed, unchanged } = report;
  const { renamed = 0, moved = 0 } = report;
  const counts = `${added} added, ${changed} changed, ${removed} removed, ${unchanged} unchanged`;
  const keys = renamed === 0 ? "" : ` (${renamed} with another upstream key)`;
  const regained = moved === 0 ? "" : ` (${moved} regain keys that an earlier version lost)`;
  return [...keptLines(report), `${game} ${branch} ${patch}: ${counts}${keys}${regained}`].join(
    "\n",
  );
}

/** Keys that an adapter could not write in snake case (COD-21). */
function keptLines({ kept = { keys: [], omitted: 0 } }: ImportReport): string[] {
  const lines = kept.keys.map(
    (key) => `  ${key} keeps its spelling: another key is the same in snake case`,
  );
  return kept.omitted === 0 ? lines : [...lines, `  and ${kept.omitted} more such keys`];
}

/** One line for each listed change: `+ id.item.torch`. */
export function formatChanges({ changes, omitted }: ImportPlan): string[] {
  const lines = changes.map(({ op, id }) => `${signs[op]} ${id}`);
  return omitted === 0 ? lines : [...lines, `and ${omitted} more`];
}

function typeLines({ types }: ImportPlan): string[] {
  const rows = Object.entries(types);
  if (rows.length === 0) return [];
  const width = Math.max("type".length, ...rows.map(([type]) => type.length));
  const line = (type: string, ...cells: (string | number)[]) =>
    `  ${type.padEnd(width)}${cells.map((cell) => String(cell).padStart(10)).join("")}`;
  return [
    line("type", "added", "changed", "removed"),
    ...rows.map(([type, { added, changed, removed }]) => line(type, added, changed, removed)),
  ];
}

function textLines({ texts }: ImportPlan): string[] {
  if (texts.length === 0) return [];
  return [`  texts: ${texts.map(({ locale, op }) => `${signs[op]} ${locale}`).join(", ")}`];
}

function assetLines({ assets: { added, bytes } }: ImportPlan): string[] {
  if (added === 0) return [];
  return [`  assets: ${added} new (${(bytes / 1024).toFixed(1)} KiB)`];
}

function rebuildLines({ rebuild: { entities, projection } }: ImportPlan): string[] {
  if (entities === 0 && !projection) return [];
  const typed = projection ? ", and the typed resources that depend on them" : "";
  return [`  rebuild: ${entities} entities of the branch${typed}`];
}
