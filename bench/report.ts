import { median as medianOf } from "simple-statistics";

/** Results of a scenario; the first row of `cells` belongs to the first of `head`. */
export interface Table {
  title: string;
  head: string[];
  rows: string[][];
}

/** An upper bound (or, with `isLeast`, a lower one) a measured value is compared with. */
export interface Target {
  limit: number;
  unit?: string;
  isLeast?: boolean;
}

/** Whether the value meets the target, with the target. */
export function verdict(value: number, { limit, unit = "", isLeast = false }: Target): string {
  const isReached = isLeast ? value >= limit : value <= limit;
  return `${isReached ? "reached" : "missed"} (${isLeast ? ">=" : "<="} ${limit}${unit})`;
}

/** Throws without values. */
export const median = (values: readonly number[]): number => medianOf([...values]);

/** Minimum two-sided coverage of `medianWithInterval`. */
const coverage = 0.9;

/**
 * The median with its interval, "1.08x (1.05-1.11)". The interval lies between two order statistics, so
 * that it contains the true median with at least 90 %, whatever the distribution; with too few values it is
 * omitted.
 */
export function medianWithInterval(values: readonly number[], unit = "", digits = 2): string {
  const text = `${median(values).toFixed(digits)}${unit}`;
  const interval = medianInterval(values);
  return interval === null
    ? text
    : `${text} (${interval.map((end) => end.toFixed(digits)).join("-")})`;
}

/** The narrowest pair of order statistics with enough coverage; null below five values. */
export function medianInterval(values: readonly number[]): [number, number] | null {
  const sorted = values.toSorted((a, b) => a - b);
  const n = sorted.length;
  let tail = 0;
  let rank = -1;
  // The k-th lowest value lies above the median when fewer than k of n fair coins fall below it.
  for (let k = 0, share = 0.5 ** n; k < n / 2; share *= (n - k) / (k + 1), k++) {
    tail += share;
    if (1 - 2 * tail < coverage) break;
    rank = k;
  }
  const [low, high] = [sorted[rank], sorted[n - 1 - rank]];
  return low === undefined || high === undefined ? null : [low, high];
}

/** Prints Markdown that can be pasted into a document. */
export const printTable = (table: Table): void => void process.stdout.write(markdownTable(table));

export function markdownTable({ title, head, rows }: Table): string {
  const widths = head.map((name, i) =>
    Math.max(3, name.length, ...rows.map((row) => row[i]?.length ?? 0)),
  );
  const line = (cells: string[]) =>
    `| ${widths.map((width, i) => (cells[i] ?? "").padEnd(width)).join(" | ")} |\n`;
  const rule = widths.map((width) => "-".repeat(width));
  return `\n${title}\n\n${line(head)}${line(rule)}${rows.map(line).join("")}\n`;
}

/** A progress line, separate from the results. */
export function note(text: string): void {
  process.stderr.write(`  ${text}\n`);
}
