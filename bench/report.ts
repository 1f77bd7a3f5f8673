/** One row of a benchmark: what was measured, per request, against the ceiling of the same run. */
export interface Row {
  name: string;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** CPU of all server processes per request. */
  workerMicros: number;
  redisMicros: number | null;
  statuses: Record<string, number>;
}

/** Prints a table with the ratio of each row's CPU to that of the row it is compared with. */
export function printRows(
  title: string,
  rows: { row: Row; against: Row; target: number | null }[],
): void {
  const lines = rows.map(({ row, against, target }) => {
    const ratio = row.workerMicros / against.workerMicros;
    return [
      row.name,
      row.perSecond.toFixed(0),
      row.p50Ms.toFixed(2),
      row.p99Ms.toFixed(2),
      row.workerMicros.toFixed(1),
      row.redisMicros === null ? "-" : row.redisMicros.toFixed(1),
      row === against ? "-" : `${ratio.toFixed(2)}x`,
      target === null ? "" : `${ratio <= target ? "reached" : "missed"} (<= ${target}x)`,
      Object.entries(row.statuses)
        .map(([status, count]) => `${status}:${count}`)
        .join(" "),
    ];
  });
  const head = [
    "scenario",
    "req/s",
    "p50 ms",
    "p99 ms",
    "worker us",
    "redis us",
    "to echo",
    "target",
    "answers",
  ];
  const widths = head.map((name, i) =>
    Math.max(name.length, ...lines.map((line) => line[i]?.length ?? 0)),
  );
  const print = (cells: string[]) =>
    process.stdout.write(
      `${cells
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join("  ")
        .trimEnd()}\n`,
    );
  process.stdout.write(`\n${title}\n`);
  print(head);
  for (const line of lines) print(line);
}
