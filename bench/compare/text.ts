import { markdownTable } from "../report.ts";
import { escape, section, styles, table } from "../report/html.ts";
import { percent, type Comparison, type Row } from "./compare.ts";

const head = ["figure", "before", "after", "ratio", "interval", "smallest visible", "outcome"];

const explanation =
  "The ratio is after to before, with an interval that fits all figures at once in 95 of 100 comparisons. A smaller difference than the visible one would not have shown. The floor, a raw server on this machine, is the control.";

const digits = (value: number): string => String(Number(value.toPrecision(3)));

const cellsOf = ({ figure, before, after, interval, visible, outcome }: Row): string[] => [
  ...[figure, digits(before), digits(after), `${interval.ratio.toFixed(2)}x`],
  `${interval.low.toFixed(2)}-${interval.high.toFixed(2)}`,
  ...[percent(visible), outcome ?? "control"],
];

const titleOf = ({ scenario, before, after, load }: Comparison): string =>
  `${scenario}: ${after} against ${before}; ${load}`;

/** The comparison as Markdown. */
export function comparisonText(comparison: Comparison): string {
  const { rows, remarks, verdict, exitCode, measured } = comparison;
  const lines = [
    explanation,
    "",
    ...[measured, ...remarks].map((remark) => `- ${remark}`),
    "",
    `${verdict} Exit code ${exitCode}.`,
  ];
  const title = titleOf(comparison);
  return `${markdownTable({ title, head, rows: rows.map(cellsOf) })}${lines.join("\n")}\n`;
}

/** The comparison as one HTML file that loads nothing else. */
export function comparisonPage(comparison: Comparison): string {
  const { rows, remarks, verdict, exitCode, scenario, measured } = comparison;
  const isGood = exitCode === 0;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(scenario)}: ${escape(verdict)}</title>
<style>${styles()}</style>
</head>
<body>
<header class="${isGood ? "passed" : "failed"}">
<h1>${escape(titleOf(comparison))}</h1>
<p class="verdict">${escape(verdict)}</p>
<p>${escape(measured)}. Exit code ${exitCode}.</p>
</header>
<main>
${section("Figures", `${table(head, rows.map(cellsOf))}<p>${escape(explanation)}</p>`)}
${remarks.length === 0 ? "" : section("Remarks", `<ul>${remarks.map((remark) => `<li>${escape(remark)}</li>`).join("")}</ul>`)}
</main>
</body>
</html>
`;
}
