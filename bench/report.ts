/** What a scenario measured; the first row of `cells` belongs to the first of `head`. */
export interface Table {
  title: string;
  head: string[];
  rows: string[][];
}

/** An upper bound (or, with `isLeast`, a lower one) a measured value is compared with. */
export interface Aim {
  limit: number;
  unit?: string;
  isLeast?: boolean;
}

/** Whether the value keeps to the aim, and what the aim is. */
export function verdict(value: number, { limit, unit = "", isLeast = false }: Aim): string {
  const isReached = isLeast ? value >= limit : value <= limit;
  return `${isReached ? "reached" : "missed"} (${isLeast ? ">=" : "<="} ${limit}${unit})`;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  if (sorted.length % 2 === 1) return sorted[middle] ?? 0;
  return ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}

/** Printed as Markdown, so that it can stand in a document as it is. */
export function printTable({ title, head, rows }: Table): void {
  const widths = head.map((name, i) =>
    Math.max(3, name.length, ...rows.map((row) => row[i]?.length ?? 0)),
  );
  const line = (cells: string[]) =>
    `| ${widths.map((width, i) => (cells[i] ?? "").padEnd(width)).join(" | ")} |\n`;
  const rule = widths.map((width) => "-".repeat(width));
  process.stdout.write(`\n${title}\n\n${line(head)}${line(rule)}${rows.map(line).join("")}\n`);
}

/** A line about what is going on, apart from the results. */
export function note(text: string): void {
  process.stderr.write(`  ${text}\n`);
}
